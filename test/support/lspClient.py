"""A strict client of the Language Server Protocol: pytest-lsp's, whose lsprotocol reads every message by its types."""

import asyncio
import json
import sys

from lsprotocol import types
from pytest_lsp import LanguageClient, make_test_lsp_client


async def main():
    client: LanguageClient = make_test_lsp_client()
    await client.start_io(*sys.argv[1:])
    result = await client.initialize_session(
        types.InitializeParams(capabilities=types.ClientCapabilities(), process_id=None, root_uri=None)
    )
    uri = "file:///example/Modelfile"
    item = types.TextDocumentItem(uri=uri, language_id="modelfile", version=1, text="FROM qwen3:4b\nPARAMETER temperature warm\n")
    client.text_document_did_open(types.DidOpenTextDocumentParams(text_document=item))
    await client.wait_for_notification(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
    document = types.TextDocumentIdentifier(uri=uri)
    hover = await client.text_document_hover_async(
        types.HoverParams(text_document=document, position=types.Position(line=1, character=2))
    )
    completion = await client.text_document_completion_async(
        types.CompletionParams(text_document=document, position=types.Position(line=1, character=10))
    )
    items = completion.items if isinstance(completion, types.CompletionList) else completion
    print(json.dumps({
        "server": result.server_info.name,
        "diagnostics": [each.message for each in client.diagnostics[uri]],
        "hover": bool(hover and hover.contents),
        "completion": any(each.label.startswith("temperature") for each in items),
    }), flush=True)
    await client.shutdown_session()
    await client.stop()


asyncio.run(main())
