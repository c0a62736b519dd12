"""A strict client of the Agent Client Protocol: the Python SDK reads every message by its own models."""

import asyncio
import json
import os
import sys

import acp
from acp.schema import AllowedOutcome, EnvVariable, McpServerStdio, RequestPermissionResponse


class Strict:
    """Takes updates and questions; what the SDK cannot read never comes here, and is an error on its log."""

    def __init__(self):
        self.text = ""
        self.statuses = []
        self.asked = []

    async def session_update(self, session_id, update, **_):
        if update.session_update == "agent_message_chunk":
            self.text += update.content.text
        if update.session_update in ("tool_call", "tool_call_update"):
            # A call that runs may report its progress.
            if self.statuses[-1:] != [update.status]:
                self.statuses.append(update.status)

    async def request_permission(self, session_id, tool_call, options, **_):
        self.asked.append(tool_call.title)
        once = next(option for option in options if option.kind == "allow_once")
        return RequestPermissionResponse(outcome=AllowedOutcome(outcome="selected", option_id=once.option_id))

    def on_connect(self, connection):
        pass


async def main():
    server, *command = sys.argv[1:]
    client = Strict()
    async with acp.spawn_agent_process(lambda _: client, *command, env=dict(os.environ)) as (agent, _process):
        initialized = await agent.initialize(protocol_version=acp.PROTOCOL_VERSION)
        tools = McpServerStdio(name="files", command=command[0], args=[server], env=[EnvVariable(name="A", value="b")])
        opened = await agent.new_session(cwd="/", mcp_servers=[tools])
        answered = await agent.prompt(session_id=opened.session_id, prompt=[acp.text_block("Say hi.")])
        print(json.dumps({
            "agent": initialized.agent_info.name,
            "pickers": [option.id for option in opened.config_options],
            "text": client.text,
            "statuses": client.statuses,
            "asked": client.asked,
            "stopReason": answered.stop_reason,
        }))


asyncio.run(main())
