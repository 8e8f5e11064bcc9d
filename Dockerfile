# One image with all programs; the command selects one: gateway, presence, channel-state, invitation, sip-bridge, webhooks,
# media, heliographctl.

FROM swift:6.3-bookworm AS build
RUN apt-get update \
    && apt-get install -y --no-install-recommends libhiredis-dev libpq-dev libssl-dev libre-dev libsrtp2-dev \
        liburing-dev postgresql-client-15 \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /src
# The dependencies change less often than the sources, so they have a layer of their own.
COPY Package.* ./
RUN swift package resolve
COPY . .
# Without debugging information.
RUN mkdir -p /out/bin \
    && for program in gateway presence channel-state invitation sip-bridge webhooks media heliographctl; do \
        Scripts/build-programs --product "$program" \
        && strip -o "/out/bin/$program" ".build/release/$program" \
        || exit 1; \
    done
# For `heliographctl backup` and `restore`. The programs alone have 1.4 MB; their package needs all of Perl, which has 47 MB.
RUN cp /usr/lib/postgresql/15/bin/pg_dump /usr/lib/postgresql/15/bin/pg_restore /usr/lib/postgresql/15/bin/psql /out/bin/

FROM debian:bookworm-slim
# The C libraries that the programs link, and curl for the health check.
RUN apt-get update \
    && apt-get install -y --no-install-recommends \
        ca-certificates curl libhiredis0.14 libpq5 libre0 libreadline8 libsrtp2-1 libssl3 libstdc++6 liburing2 \
    && rm -rf /var/lib/apt/lists/* /var/cache/apt/* \
    && useradd --system --uid 10001 --no-create-home --shell /usr/sbin/nologin heliograph \
    # A new volume that is mounted here gets this owner.
    && install -d -o heliograph -g nogroup -m 700 /var/backups/heliograph
COPY --from=build /out/bin/ /usr/local/bin/
# A program that lacks a library fails here, not at its start.
RUN ! ldd /usr/local/bin/* | grep 'not found'
USER heliograph
# The default address of the listeners, loopback, could not be reached from outside the container.
ENV HELIOGRAPH_HTTP_HOST=0.0.0.0 HELIOGRAPH_HTTP_PORT=9090 HELIOGRAPH_LOG_FORMAT=json
HEALTHCHECK --interval=5s --timeout=4s --start-period=20s --retries=3 \
    CMD ["curl", "-fsS", "-o", "/dev/null", "http://127.0.0.1:9090/healthz"]
STOPSIGNAL SIGTERM
CMD ["gateway"]
