"""A user of the unmodified `agora-signaling-sdk` 1.0.2 who answers, as `Tests/Clients/Echo` does in Swift:

    python_echo.py APP ACCOUNT HOST:PORT CHANNEL

Joins the channel; answers an instant message `tell ACCOUNT TEXT` by sending TEXT there, and any other by "python heard: "
and its text; says "python is here" when somebody says "go" in the channel; accepts invitations.
"""

import sys

from agorasigsdk.agora_signal import AgoraSignal
from agorasigsdk.call import Call
from agorasigsdk.channel import Channel
from agorasigsdk.login_session import LoginSession
from twisted.internet import reactor

APP, ACCOUNT, ADDRESS, CHANNEL = sys.argv[1:]


class Channels(Channel.ChannelCallback):
    def on_msg_channel_received(self, session, channel, account, uid, msg):
        if msg == "go":
            channel.msg_channel_send("python is here")


class Logins(LoginSession.LoginCallback):
    def on_login_success(self, session, uid):
        session.channel_join(CHANNEL, Channels())

    def on_msg_instant_received(self, session, account, uid, msg):
        words = msg.split(" ", 2)
        if len(words) == 3 and words[0] == "tell":
            session.msg_instant_send(words[1], words[2], None)
        elif "heard: " not in msg:
            session.msg_instant_send(account, f"python heard: {msg}", None)

    def on_invite_received(self, session, call):
        call.set_callback(Call.CallCallback())
        call.accept()


host, port = ADDRESS.split(":")
AgoraSignal(APP).login(ACCOUNT, "_no_need_token", Logins(), is_debugging=True, debug_params=[(host, int(port))])
reactor.run()
