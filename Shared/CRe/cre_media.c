#include "cre_media.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include <re/re.h>

enum {
	/* Bytes reserved after a packet for what SRTP and SRTCP append. */
	SRTP_TRAILER = 32,
	/* Layer of the SRTP helpers on libre's sockets; below that of any other helper. */
	SRTP_LAYER = 10,
};

struct key {
	struct srtp *context;
	uint8_t bytes[CRE_SRTP_KEY_SIZE];
};

struct cre_rtp {
	struct rtp_sock *socket;
	cre_rtp_packet_h *handler;
	void *context;
	struct sa peer;
	struct sa peer_rtcp;
	struct sa signalling;
	/* Where packets are sent: the peer's announced address, until packets are received from its signalling address. */
	struct sa destination;
	bool has_peer;
	bool is_latched;
	bool reports;
	struct key local;
	struct key remote;
	struct cre_rtp_counts counts;
};

static bool is_peer(const struct cre_rtp *rtp, const struct sa *source)
{
	return rtp->has_peer &&
	       (sa_cmp(source, &rtp->peer, SA_ADDR) ||
		(sa_isset(&rtp->signalling, SA_ADDR) && sa_cmp(source, &rtp->signalling, SA_ADDR)));
}

static bool is_reporter(const struct cre_rtp *rtp, const struct sa *source)
{
	return is_peer(rtp, source) || (rtp->has_peer && sa_cmp(source, &rtp->peer_rtcp, SA_ADDR));
}

/* Receive filter of the RTP socket. Returns true to drop the packet. */
static bool filter_rtp(struct sa *source, struct mbuf *buffer, void *arg)
{
	struct cre_rtp *rtp = arg;

	if (!is_peer(rtp, source)) {
		++rtp->counts.strangers;
		return true;
	}
	if (rtp->remote.context && srtp_decrypt(rtp->remote.context, buffer)) {
		++rtp->counts.unauthentic;
		return true;
	}
	return false;
}

static bool filter_rtcp(struct sa *source, struct mbuf *buffer, void *arg)
{
	struct cre_rtp *rtp = arg;

	if (!is_reporter(rtp, source)) {
		++rtp->counts.strangers;
		return true;
	}
	if (rtp->remote.context && srtcp_decrypt(rtp->remote.context, buffer)) {
		++rtp->counts.unauthentic;
		return true;
	}
	return false;
}

static bool protect_rtp(int *error, struct sa *destination, struct mbuf *buffer, void *arg)
{
	struct cre_rtp *rtp = arg;

	(void)destination;
	if (rtp->local.context)
		*error = srtp_encrypt(rtp->local.context, buffer);
	return false;
}

static bool protect_rtcp(int *error, struct sa *destination, struct mbuf *buffer, void *arg)
{
	struct cre_rtp *rtp = arg;

	(void)destination;
	if (rtp->local.context)
		*error = srtcp_encrypt(rtp->local.context, buffer);
	return false;
}

static void rtp_arrived(const struct sa *source, const struct rtp_header *header, struct mbuf *buffer, void *arg)
{
	struct cre_rtp *rtp = arg;
	struct cre_rtp_packet packet = {
		.source = header->ssrc,
		.timestamp = header->ts,
		.sequence = header->seq,
		.payload_type = header->pt,
		.marker = header->m,
		.payload = mbuf_buf(buffer),
		.count = mbuf_get_left(buffer),
	};

	if (header->pad) {
		uint8_t padding = packet.count ? packet.payload[packet.count - 1] : 0;

		if (!padding || padding > packet.count) {
			++rtp->counts.malformed;
			return;
		}
		packet.count -= padding;
	}
	++rtp->counts.received;
	if (!rtp->is_latched && !sa_cmp(source, &rtp->peer, SA_ADDR)) {
		rtp->destination = *source;
		rtp->is_latched = true;
	}
	/* Must be last: the handler may close the stream. */
	rtp->handler(&packet, rtp->context);
}

int cre_rtp_open(struct cre_rtp **result, const char *address, uint16_t first_port, uint16_t last_port,
		 cre_rtp_packet_h *handler, void *context)
{
	struct cre_rtp *rtp;
	struct sa local;
	int error = sa_set_str(&local, address, 0);

	if (error)
		return error;
	rtp = calloc(1, sizeof(*rtp));
	if (!rtp)
		return ENOMEM;
	rtp->handler = handler;
	rtp->context = context;
	sa_init(&rtp->peer, AF_UNSPEC);
	sa_init(&rtp->peer_rtcp, AF_UNSPEC);
	sa_init(&rtp->signalling, AF_UNSPEC);
	/* libre treats the end of the range as exclusive for RTP, so RTP never uses `last_port`. */
	error = rtp_listen(&rtp->socket, IPPROTO_UDP, &local, first_port, last_port, true, rtp_arrived, NULL, rtp);
	if (!error)
		error = udp_register_helper(NULL, rtp_sock(rtp->socket), SRTP_LAYER, protect_rtp, filter_rtp, rtp);
	if (!error)
		error = udp_register_helper(NULL, rtcp_sock(rtp->socket), SRTP_LAYER, protect_rtcp, filter_rtcp, rtp);
	if (error)
		cre_rtp_close(rtp);
	else
		*result = rtp;
	return error;
}

uint16_t cre_rtp_port(const struct cre_rtp *rtp)
{
	return sa_port(rtp_local(rtp->socket));
}

int cre_rtp_set_peer(struct cre_rtp *rtp, const char *address, uint16_t port, const char *rtcp_address,
		     uint16_t rtcp_port, const char *signalling)
{
	struct sa peer, peer_rtcp, third;
	int error = sa_set_str(&peer, address, port);

	if (!error)
		error = sa_set_str(&peer_rtcp, rtcp_address, rtcp_port);
	sa_init(&third, AF_UNSPEC);
	if (!error && signalling)
		error = sa_set_str(&third, signalling, 0);
	if (error)
		return error;
	/* A session refresh repeats the same address; the destination that was learnt from received packets is then
	 * kept. */
	if (!rtp->has_peer || !sa_cmp(&peer, &rtp->peer, SA_ALL)) {
		rtp->destination = peer;
		rtp->is_latched = false;
	}
	rtp->peer = peer;
	rtp->peer_rtcp = peer_rtcp;
	rtp->signalling = third;
	rtp->has_peer = true;
	return 0;
}

static int make_key(struct key *key, const uint8_t *bytes)
{
	int error = srtp_alloc(&key->context, SRTP_AES_CM_128_HMAC_SHA1_80, bytes, CRE_SRTP_KEY_SIZE, 0);

	if (!error)
		memcpy(key->bytes, bytes, CRE_SRTP_KEY_SIZE);
	return error;
}

static bool is_same(const struct key *key, const uint8_t *bytes)
{
	return key->context && bytes && !memcmp(key->bytes, bytes, CRE_SRTP_KEY_SIZE);
}

static void drop_key(struct key *key)
{
	key->context = mem_deref(key->context);
	explicit_bzero(key->bytes, sizeof(key->bytes));
}

int cre_rtp_set_keys(struct cre_rtp *rtp, const uint8_t *local, const uint8_t *remote)
{
	struct key fresh_local = {0}, fresh_remote = {0};
	int error = 0;

	if (!local != !remote)
		return EINVAL;
	/* Both new keys are made before either is replaced, so a failure leaves the stream as it was. */
	if (local && !is_same(&rtp->local, local))
		error = make_key(&fresh_local, local);
	if (!error && remote && !is_same(&rtp->remote, remote))
		error = make_key(&fresh_remote, remote);
	if (error) {
		drop_key(&fresh_local);
		drop_key(&fresh_remote);
		return error;
	}
	if (!is_same(&rtp->local, local)) {
		drop_key(&rtp->local);
		rtp->local = fresh_local;
	}
	if (!is_same(&rtp->remote, remote)) {
		drop_key(&rtp->remote);
		rtp->remote = fresh_remote;
	}
	return 0;
}

void cre_rtp_start_reports(struct cre_rtp *rtp, const char *name, uint32_t clock_rate)
{
	rtcp_set_srate(rtp->socket, clock_rate, clock_rate);
	rtcp_start(rtp->socket, name, &rtp->peer_rtcp);
}

int cre_rtp_send(struct cre_rtp *rtp, uint8_t payload_type, bool marker, uint32_t timestamp, const uint8_t *payload,
		 size_t count)
{
	struct mbuf *buffer;
	int error;

	if (!rtp->has_peer)
		return ENOTCONN;
	buffer = mbuf_alloc(RTP_HEADER_SIZE + count + SRTP_TRAILER);
	if (!buffer)
		return ENOMEM;
	buffer->pos = buffer->end = RTP_HEADER_SIZE;
	error = mbuf_write_mem(buffer, payload, count);
	buffer->pos = RTP_HEADER_SIZE;
	if (!error)
		error = rtp_send(rtp->socket, &rtp->destination, false, marker, payload_type, timestamp, buffer);
	mem_deref(buffer);
	if (error)
		++rtp->counts.unsent;
	else
		++rtp->counts.sent;
	return error;
}

struct cre_rtp_counts cre_rtp_counts(const struct cre_rtp *rtp)
{
	return rtp->counts;
}

void cre_rtp_close(struct cre_rtp *rtp)
{
	if (!rtp)
		return;
	/* Must be first: closing sends RTCP BYE through the SRTP helpers, which are then freed with the sockets. */
	mem_deref(rtp->socket);
	drop_key(&rtp->local);
	drop_key(&rtp->remote);
	free(rtp);
}
