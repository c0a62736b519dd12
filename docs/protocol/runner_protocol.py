"""Made from protocol/messages of Runner by "npm run generate": version 1 of its protocol."""
from typing import Any, Dict, List, Literal, NotRequired, Protocol, TypeAlias, TypedDict, Union, overload


# What a runner can do. A client offers that and nothing else.
# - `count`: Counts a prompt before it is sent.
# - `embed`: Makes vectors of texts. No message asks for it yet. It is said of Ollama alone; other servers may do it too.
# - `catalog`: The models of the public library, and of its cloud, can be used there.
Ability: TypeAlias = "Literal[\"chat\", \"complete\", \"count\", \"load\", \"unload\", \"pull\", \"delete\", \"create\", \"embed\", \"logs\", \"catalog\"]"


class Advice(TypedDict):
    """The advice in a message. The message is `problem`, a blank and `text`."""
    code: "AdviceCode"
    problem: "str"
    """What is wrong, in one or more sentences. A client puts its own words for the code after it."""
    text: "str"
    """The advice in words that fit any client."""
    server: NotRequired["str"]
    """With `log-in`: the name of the tool server."""
    contextLength: NotRequired["int"]
    """With `shorten-prompt`, `offer-fewer-tools` and `make-room`: the tokens of a window that fits; 0 if the model can have none. Absent if that is not known."""


# - `start-runner`: No runner answers at the address.
# - `check-address`: Something else answers at the address, or nothing with its name.
# - `check-proxy`: A web page answers at the address.
# - `set-address`: The address leads to another one, which is not followed.
# - `name-ca-file`: The certificate of the runner is not trusted.
# - `set-token`: The server wants a token, or another one.
# - `set-password`: The server wants a user name and a password, or other ones. They are stored as a token is.
# - `use-https`: There is a token, and it is not sent over plain http to another machine.
# - `shorten-prompt`: The prompt does not fit into the context window.
# - `offer-fewer-tools`: The prompt does not fit, and most of it describes tools.
# - `make-room`: The prompt nearly fills the context window.
# - `log-in`: The tool server wants a login; `server` names it.
# - `wait-for-restart`: The tool server has failed and is started again later, or is still starting.
# - `check-network`: The model catalog cannot be reached.
# - `set-catalog`: What answers is no model catalog.
AdviceCode: TypeAlias = "Literal[\"start-runner\", \"check-address\", \"check-proxy\", \"set-address\", \"name-ca-file\", \"set-token\", \"set-password\", \"use-https\", \"shorten-prompt\", \"offer-fewer-tools\", \"make-room\", \"log-in\", \"wait-for-restart\", \"check-network\", \"set-catalog\"]"


class AgentCheck(TypedDict):
    """A check that was run."""
    name: "str"
    exitCode: "Union[float, None]"
    """Null if it did not exit by itself."""
    ms: "int"


class AgentEdit(TypedDict):
    path: "str"
    """Below the folder of the workspace."""
    added: "int"
    """In lines, as `removed`."""
    removed: "int"


# How far a model may go with the built-in tools; only the user chooses it. `read`: it is offered neither edits nor checks. `ask`: the user is asked about each. `edit`: edits are made without a question. `auto`: so are reads and checks, in a trusted workspace. Some files are asked about in every mode, because they decide what runs.
AgentMode: TypeAlias = "Literal[\"read\", \"ask\", \"edit\", \"auto\"]"


class AgentParams(TypedDict):
    mode: NotRequired["AgentMode"]
    cleared: NotRequired["ClearedParts"]
    """What an earlier turn reported. A kept conversation (`session`) needs none, because its file has it."""


class AgentResult(TypedDict):
    """What a turn with the built-in tools did."""
    rounds: "int"
    """How often the model was asked."""
    cleared: NotRequired["ClearedParts"]
    """Absent if nothing is removed."""
    edits: "List[AgentEdit]"
    """In their order; a file that was edited again is here again."""
    checks: "List[AgentCheck]"


class AllowCheckParams(TypedDict):
    name: "str"
    folder: "str"
    hash: "str"
    """Of the whole file: with another content it is another suggestion."""


class AllowPromptsParams(TypedDict):
    allowed: "bool"
    cwd: NotRequired["str"]
    """The absolute path of the workspace; default: the root of the client's `initialize`."""


class AllowPromptsResult(TypedDict):
    folder: NotRequired["PromptFolder"]


# Tools that run without a question, by the name of their server and their own name.
Approvals: TypeAlias = "Dict[str, Union[List[str], Literal[\"always\"]]]"


class ApproveToolParams(TypedDict):
    streamId: "str"
    """The `streamId` of the chat that wants the call."""
    toolCall: "ToolCall"
    server: "str"
    title: NotRequired["str"]
    description: "str"
    annotations: NotRequired["ToolAnnotations"]
    diff: NotRequired["FileDiff"]
    """What the call would change, in place of most of its arguments. Only a client with `showsDiffs` gets it."""
    command: NotRequired["List[str]"]
    """The words of the command that the call would run. They may come from a model."""
    decisions: NotRequired["List[ToolDecision]"]
    """The possible answers. Absent: `once`, `session`, `always` and `deny`. Any other answer is a denial."""


class ApproveToolResult(TypedDict):
    decision: "ToolDecision"
    reason: NotRequired["str"]
    """With `deny` and `stop`: what the model should know of it, of which 1,000 characters count."""


class Attachment(TypedDict):
    """A text that accompanies what the user typed, such as a file or selected lines."""
    path: "str"
    """Where the text comes from, as the model sees it: a path, an address or a few words."""
    lines: NotRequired["str"]
    """The lines that the text covers, counted from 1, such as `3-9`. Absent means the whole file."""
    language: NotRequired["str"]
    """The language of the text, such as `lua`."""
    text: "str"
    uris: NotRequired["List[str]"]
    """The addresses of the files that the text comes from, such as `file:///home/me/a.lua`; of a renamed file both. They decide whether the text is private. Without them, `path` does."""
    automatic: NotRequired["bool"]
    """The client added it, and the user did not name it. If it is private, only its name is sent."""


class CancelChatParams(TypedDict):
    streamId: "str"


# Whether a model can do something, and how the daemon learnt it.
Capability = TypedDict("Capability", {
    "value": "Union[bool, Literal[\"unknown\"]]",
    "from": "FactSource",
})


class CatalogEntry(TypedDict):
    name: "str"
    """The name in the catalog."""
    model: "str"
    """The name to pull. For a cloud model it has the runner's suffix, such as `gpt-oss:120b-cloud`."""
    description: NotRequired["str"]
    capabilities: NotRequired["List[str]"]
    sizes: NotRequired["List[str]"]
    """Such as `8b`."""
    url: "str"
    family: "str"
    installed: "bool"
    """True if `model` is installed, or, for a name without a tag, any tag of it."""


class CatalogParams(TypedDict):
    query: NotRequired["str"]
    refresh: NotRequired["bool"]
    cached: NotRequired["bool"]
    """Answers with the list that is kept, however old it is, and asks no catalog."""
    server: NotRequired["str"]
    """A name of `servers`; absent means the server at `host`, whose name is `default`."""


class CatalogResult(TypedDict):
    entries: "List[CatalogEntry]"
    fetchedAt: "str"
    stale: NotRequired["Literal[True]"]


ChatDelta: TypeAlias = "Union[ChatDeltaText, ChatDeltaToolCall, ChatDeltaToolResult, ChatDeltaNotice]"


class ChatDeltaNotice(TypedDict):
    streamId: "str"
    seq: "int"
    """Starts at 0 and grows by one with each delta."""
    kind: "Literal[\"notice\"]"
    notice: "Notice"


class ChatDeltaText(TypedDict):
    streamId: "str"
    seq: "int"
    """Starts at 0 and grows by one with each delta."""
    kind: "Literal[\"text\", \"thinking\"]"
    text: "str"


class ChatDeltaToolCall(TypedDict):
    streamId: "str"
    seq: "int"
    """Starts at 0 and grows by one with each delta."""
    kind: "Literal[\"toolCall\"]"
    toolCall: "ToolCall"


class ChatDeltaToolResult(TypedDict):
    streamId: "str"
    seq: "int"
    """Starts at 0 and grows by one with each delta."""
    kind: "Literal[\"toolResult\"]"
    toolResult: "ToolResult"


# The model that answers when a conversation begins and nobody has named one.
ChatModelResult = TypedDict("ChatModelResult", {
    "model": NotRequired["Model"],
    "from": NotRequired["Literal[\"setting\", \"choice\", \"loaded\", \"newest\"]"],
    "missing": NotRequired["str"],
})


class ChatParams(TypedDict):
    streamId: "str"
    """Chosen by the client; the deltas of this chat carry it."""
    model: "str"
    messages: "List[Message]"
    """The whole conversation, or with `history` its new messages. At least one, except to ask the last prompt again."""
    tools: NotRequired["List[Tool]"]
    hostedTools: NotRequired["Union[Literal[\"all\"], List[str]]"]
    """Names of tool servers whose tools the model may call too. The daemon runs these calls and asks the model again with their results. A call of one of `tools` still ends the turn."""
    maxRounds: NotRequired["int"]
    """With `hostedTools`: rounds of calls; more than `maxToolRounds` are never run. Default: the setting `rounds`."""
    agent: NotRequired["AgentParams"]
    """How a model works with the built-in tools."""
    toolChoice: NotRequired["Literal[\"auto\", \"none\", \"required\"]"]
    """`none` leaves the tools out. A server that cannot hold a model to a call treats `required` as `auto`, with a notice."""
    think: NotRequired["Union[bool, ThinkLevel]"]
    """Sent only to models with the thinking capability; absent leaves it to the runner."""
    options: NotRequired["Dict[str, Any]"]
    """The runner's own options, such as `temperature`."""
    keepAlive: NotRequired["Union[str, float]"]
    """Seconds, or a duration with a unit such as `10m`. A negative value means for ever."""
    format: NotRequired["Union[str, Dict[str, Any]]"]
    """`"json"` or a JSON Schema that the answer must follow. The runner holds the model to it; the daemon checks the answer, and the notice `format-not-held` says what is wrong with it."""
    context: NotRequired["Literal[\"leading\"]"]
    """`leading` searches the text of the leading user messages for context blocks, which become one system message. It is for a client that receives text in which an editor has joined its blocks and the user's words. `attachments` need no search: they always become part of that system message."""
    contextTags: NotRequired["List[str]"]
    """Element names of context blocks besides those of `contextTags`."""
    dropContextTags: NotRequired["bool"]
    """The open and close tags of context blocks are not shown, even if the model wrote them. Their content stays."""
    thinkingFormat: NotRequired["Literal[\"separate\", \"quote\"]"]
    """`quote` puts thinking into the text as a collapsible block quote."""
    session: NotRequired["str"]
    """The `id` of a kept conversation. What this turn adds is appended to it when the turn ends."""
    history: NotRequired["Literal[\"kept\"]"]
    """With `session`: `kept` sends what the daemon has of the conversation before `messages`, which then has only what is new. A system message in it takes the place of the kept one, and an empty one removes that."""
    replacesLastTurn: NotRequired["bool"]
    """With `session`: the turn takes the place of the last one there, which `messages` does not have any more. It does so once its answer is whole; if the turn fails or is cancelled, the last one stays. With `history` and without a new message, the last prompt is asked again."""
    server: NotRequired["str"]
    """A name of `servers`; absent means the server at `host`, whose name is `default`."""


class ChatResult(TypedDict):
    """The whole answer. It is authoritative; the deltas before it are an optimisation."""
    finishReason: "FinishReason"
    message: "Message"
    """With `hostedTools`, the last message."""
    messages: NotRequired["List[Message]"]
    """With `hostedTools`: every message that the turn added, in order, ready to be sent as history. Every call that the daemon runs has its answer here, even when the turn was cancelled."""
    usage: "Usage"
    """With several rounds: the prompt tokens of the last round, and the completion tokens of all rounds."""
    notices: "List[Notice]"
    agent: NotRequired["AgentResult"]
    """Only of a turn with the built-in tools."""


class CheckOptions(TypedDict):
    """A command that the user lets models run: a list of words that no shell reads."""
    command: "List[str]"
    """The program and its arguments. The argument `{path}` becomes the path that a call names; a call without a path leaves it out."""
    timeout: NotRequired["int"]
    """In seconds. `timeouts.toolTotal` limits it too."""
    env: NotRequired["Dict[str, str]"]
    """Added to what every tool server inherits."""


# Checks by the absolute path of their project folder, and by their name.
Checks: TypeAlias = "Dict[str, Dict[str, CheckOptions]]"


class ClearedParts(TypedDict):
    """What was removed from the prompts of a conversation to save room. It stays out of later ones."""
    results: "List[str]"
    """The ids of the calls whose results are removed."""
    rounds: "List[str]"
    """The ids of the first calls of rounds that are removed."""
    answers: "int"
    """How many answers, from the beginning, have no thinking any more."""
    turns: "int"
    """How many turns, from the beginning, are removed."""


class CompletePromptParams(TypedDict):
    name: "str"
    """Of the prompt."""
    argument: "str"
    """The name of the argument."""
    value: "str"
    """What the user has typed of its value."""
    values: NotRequired["Dict[str, str]"]
    """The other values so far, by name."""
    cwd: NotRequired["str"]
    """The absolute path of the workspace; default: the root of the client's `initialize`."""


class CompletePromptResult(TypedDict):
    values: "List[str]"


class CompleteResourceParams(TypedDict):
    word: "str"


class CompleteResourceResult(TypedDict):
    words: "List[ResourceWord]"


class CompletionAcceptedParams(TypedDict):
    id: "str"
    """Identifies one of the daemon's suggestions."""


# Tokens of a window.
ContextLength = TypedDict("ContextLength", {
    "allocated": NotRequired["int"],
    "configured": NotRequired["int"],
    "maximum": NotRequired["int"],
    "from": NotRequired["FactSource"],
})


class ConversationSettings(TypedDict):
    """What the last turn of a conversation was asked with. A client that continues it sends the same again. It says nothing about approvals."""
    system: NotRequired["str"]
    """The system message that the client sent."""
    think: NotRequired["Union[bool, ThinkLevel]"]
    """Sent only to models with the thinking capability; absent leaves it to the runner."""
    options: NotRequired["Dict[str, Any]"]
    """The runner's own options, such as `temperature`."""
    hostedTools: NotRequired["Union[Literal[\"all\"], List[str]]"]
    """Names of tool servers whose tools the model may call too. The daemon runs these calls and asks the model again with their results. A call of one of `tools` still ends the turn."""
    maxRounds: NotRequired["int"]
    """With `hostedTools`: rounds of calls; more than `maxToolRounds` are never run. Default: the setting `rounds`."""


class CreateModelParams(TypedDict):
    path: NotRequired["str"]
    """The absolute path of a Modelfile; relative paths in it start from its folder."""
    text: NotRequired["str"]
    """The text of a Modelfile; it may hold only names and absolute paths."""
    model: "str"
    server: NotRequired["str"]
    """A name of `servers`; absent means the server at `host`, whose name is `default`."""
    workDoneToken: NotRequired["ProgressToken"]
    """Without it the daemon makes a token, if the editor has `window.workDoneProgress`."""


class CreateModelResult(TypedDict):
    model: "str"


class CreateSessionParams(TypedDict):
    title: NotRequired["str"]
    """One line."""
    cwd: NotRequired["str"]
    """The absolute path of a folder."""
    kept: NotRequired["bool"]
    """False: it is not written to the disk."""


class CreateSessionResult(TypedDict):
    session: "Session"


class DeleteModelParams(TypedDict):
    stop: NotRequired["bool"]
    """True stops a running model first; otherwise a running model is the error `busy`."""
    model: "str"
    server: NotRequired["str"]
    """A name of `servers`; absent means the server at `host`, whose name is `default`."""


class DiscoverResult(TypedDict):
    runners: "List[FoundRunner]"


# `text` and `thinking` are appended to what came before. `seq` starts at 0 and grows by one with each delta.
EditDelta: TypeAlias = "Union[EditDeltaText, EditDeltaNotice]"


class EditDeltaNotice(TypedDict):
    streamId: "str"
    seq: "int"
    kind: "Literal[\"notice\"]"
    notice: "Notice"


class EditDeltaText(TypedDict):
    streamId: "str"
    seq: "int"
    kind: "Literal[\"text\", \"thinking\"]"
    text: "str"


class EditParams(TypedDict):
    streamId: "str"
    """Chosen by the client; the deltas of this edit carry it."""
    model: "str"
    instruction: "str"
    """What the user wants, as typed."""
    text: "str"
    """Whole lines, with or without the line end of the last one. If they are blank, the model writes new lines."""
    before: NotRequired["str"]
    """The lines before them and after them, as many as the client likes; the daemon sends the nearest."""
    after: NotRequired["str"]
    path: NotRequired["str"]
    """The file, as the model sees it."""
    language: NotRequired["str"]
    """The language of the text, such as `lua`."""
    uris: NotRequired["List[str]"]
    """The addresses of the file, as in an `Attachment`. Of a private file, only `text` is sent."""
    think: NotRequired["Union[bool, ThinkLevel]"]
    """As in a chat."""
    options: NotRequired["Dict[str, Any]"]
    keepAlive: NotRequired["Union[str, float]"]
    server: NotRequired["str"]
    """A name of `servers`; absent means the server at `host`, whose name is `default`."""


class EditResult(TypedDict):
    """The new lines. They are authoritative; the deltas before them are their beginning."""
    finishReason: "FinishReason"
    """`stop` if the text is whole."""
    text: "str"
    """With the line ends of the lines to change, also of the last one. If it is empty, nothing is left of the lines."""
    usage: "Usage"
    notices: "List[Notice]"


class EditsParams(TypedDict):
    session: "str"
    """The `id` of a kept conversation."""
    prompt: "int"
    """How many prompts of the user the conversation has: those of the turn are meant."""


class EditsResult(TypedDict):
    """What the built-in tools have changed in a turn, each file once."""
    files: "List[FileDiff]"
    count: "int"
    """How many edits there were; 0 if the turn has made none."""


# A setting as it counts now.
EffectiveSetting = TypedDict("EffectiveSetting", {
    "name": "str",
    "value": "Any",
    "from": "Literal[\"default\", \"environment\", \"file\", \"client\"]",
})


class ElicitField(TypedDict):
    """What a tool server wants to know. All texts are the server's: a client makes control characters visible."""
    name: "str"
    title: NotRequired["str"]
    """What to call it, if the server gives it a better name."""
    description: NotRequired["str"]
    """One line."""
    required: "bool"
    type: "Literal[\"text\", \"number\", \"integer\", \"boolean\", \"choice\", \"choices\"]"
    """`choice` is one of `options`, `choices` are several."""
    format: NotRequired["Literal[\"email\", \"uri\", \"date\", \"date-time\"]"]
    """Of a text."""
    options: NotRequired["List[ElicitOption]"]
    default: NotRequired["ElicitValue"]


class ElicitOption(TypedDict):
    value: "str"
    title: "str"


class ElicitParams(TypedDict):
    streamId: "str"
    """The `streamId` of the chat whose call asks."""
    server: "str"
    """The name of the tool server, which is always shown."""
    message: "str"
    """The server's own words."""
    fields: "List[ElicitField]"
    """Without any, the user only agrees or declines."""
    problem: NotRequired["str"]
    """What was wrong with the values before; `fields` are then those that are asked again."""
    warning: NotRequired["str"]
    """A sentence for the user, such as that the server seems to ask for a secret."""
    url: NotRequired["str"]
    """The address that the user is to open: https, or http on this machine. It is shown, and never opened by itself."""
    host: NotRequired["str"]
    """The host of `url`."""


class ElicitResult(TypedDict):
    action: "Literal[\"accept\", \"decline\", \"cancel\"]"
    """`decline` says no, `cancel` gives no answer."""
    content: NotRequired["Dict[str, ElicitValue]"]
    """By the names of the fields. Any value may be the text that the user typed; the daemon reads and checks it."""


ElicitValue: TypeAlias = "Union[str, float, bool, List[str]]"


class EngineFetch(TypedDict):
    """What a way fetches before it starts anything, once the user agrees: by `runner/engine/install` or `…/sample`."""
    what: "Literal[\"library\", \"sample\"]"
    bytes: "int"
    """Bytes."""
    description: "str"
    """What the user should know before, in sentences: how much, under which licenses, from where and where to."""


class EngineInstallResult(TypedDict):
    folder: "str"


class EngineModel(TypedDict):
    """A file with weights (GGUF) on this machine."""
    name: "str"
    """Such as `llama3.2:3b`, or the name of its file without the ending."""
    path: "str"
    size: "int"
    """Bytes."""
    fits: "bool"
    """Whether it fits into the memory, with a small window."""
    source: "Literal[\"path\", \"sample\", \"Ollama\", \"Hugging Face\", \"LM Studio\", \"llama.cpp\", \"Jan\", \"GPT4All\"]"
    """Whose folder it is in."""


class EngineModelsParams(TypedDict):
    path: NotRequired["str"]
    """An absolute path of a file or a folder to look into as well."""


class EngineModelsResult(TypedDict):
    models: "List[EngineModel]"
    isCut: NotRequired["Literal[True]"]
    """A folder had more than the search looks at."""


class EngineOffers(TypedDict):
    programs: "List[InstalledProgram]"
    library: "Fetchable"
    """The library that runs models."""
    sample: "Fetchable"
    """The small model."""
    ways: "List[EngineWay]"
    """What to offer to a user who has no runner, the most capable one first; at most one of each product."""


# What Runner can start: its own engine, or a program that the user has installed.
EngineProduct: TypeAlias = "Literal[\"runner-engine\", \"llama.cpp\", \"ollama\"]"


class EngineRemoveResult(TypedDict):
    wasThere: "bool"


class EngineSampleResult(TypedDict):
    path: "str"


class EngineSettings(TypedDict):
    keepRunning: NotRequired["bool"]
    """True: it goes on running after the last program that uses it, until `runner/engine/stop`."""


class EngineStartParams(TypedDict):
    product: NotRequired["EngineProduct"]
    """Absent: the engine if it is installed, or else llama-server."""
    model: NotRequired["str"]
    """The absolute path of a file, or a name of `runner/engine/models`. Absent: the last one, or else the sample."""
    context: NotRequired["int"]
    """Tokens of the window."""
    threads: NotRequired["int"]
    keep: NotRequired["bool"]
    """True: it runs until `runner/engine/stop`. Otherwise as long as a daemon uses it."""
    workDoneToken: NotRequired["ProgressToken"]
    """Without it the daemon makes a token, if the editor has `window.workDoneProgress`."""


class EngineStatus(TypedDict):
    """What was started here; there is at most one for a user."""
    state: "Literal[\"running\", \"stopped\", \"down\"]"
    """`down`: it ended by itself, and was not started again."""
    message: "str"
    """A sentence for the user."""
    product: NotRequired["EngineProduct"]
    url: NotRequired["str"]
    model: NotRequired["str"]
    """The name under which it has its model. Absent for Ollama."""
    context: NotRequired["int"]
    """Tokens of its window, if it said so."""
    isInstalled: "bool"
    """Whether the library of the engine is installed."""
    sample: NotRequired["str"]
    """The path of the sample, if that was fetched."""


class EngineStopResult(TypedDict):
    wasRunning: "bool"


class EngineWay(TypedDict):
    """One way to a model that answers."""
    label: "str"
    """For a list, such as `start Ollama 0.31.4, which is installed`."""
    fetches: "List[EngineFetch]"
    """In this order. Empty: everything is there."""
    warning: NotRequired["str"]
    """What the user should know about the model, as a sentence."""
    start: "EngineWayStart"
    """Parameters of `runner/engine/start`."""


class EngineWayStart(TypedDict):
    product: "EngineProduct"
    model: NotRequired["str"]


class ErrorData(TypedDict):
    """The `data` of every error whose code is in `errorCodes`."""
    kind: "ErrorKind"
    retryable: "bool"
    advice: NotRequired["Advice"]
    """What can be done about it, if the message ends in that."""
    server: NotRequired["str"]
    """The name of the server that was asked."""
    model: NotRequired["str"]
    capability: NotRequired["str"]
    """With `not-supported`: what the model cannot do."""
    partial: NotRequired["Any"]
    """The part of a chat's answer that arrived before it failed: a `Message`."""
    messages: NotRequired["List[Any]"]
    """With `hostedTools`: all `Message`s that the turn had added, including what had arrived of the last one."""
    signinUrl: NotRequired["str"]
    """With `unauthorized`: where to sign in, if the runner named an address."""
    retryAfter: NotRequired["int"]
    """With `busy`: seconds to wait, if the runner named them."""
    needed: NotRequired["int"]
    """With `context-exceeded`: the estimated tokens of the prompt."""
    allocated: NotRequired["int"]
    """With `context-exceeded`: the tokens of the window."""
    maximum: NotRequired["int"]
    """With `context-exceeded`: the tokens of the largest window that the model can have."""
    outOfMemory: NotRequired["Literal[True]"]
    """With `runner-failed`: the model did not fit into what is left of the memory."""
    diagnostics: NotRequired["List[Any]"]
    """With `invalid-modelfile`."""


# The stable names of what can go wrong, the same on the wire and in the terminal's `--json`.
# - `server-unreachable`: No connection, refused, DNS, TLS, or the connection was lost before any answer.
# - `timeout`: One of the daemon's own time limits ran out.
# - `unauthorized`: The runner answered 401 or 403.
# - `model-not-found`: The runner answered 404 with a JSON error that names a model.
# - `not-supported`: The model cannot do what was asked, or the runner does not have the route.
# - `context-exceeded`: The prompt is longer than the window.
# - `busy`: 503, 429, or a running model is in the way.
# - `bad-response`: HTML, invalid JSON, a wrong shape, too large, a redirect, or a stream that ends without `done`.
# - `runner-failed`: The runner itself failed: 5xx or an error line.
# - `invalid-modelfile`: The Modelfile has mistakes; `data.diagnostics` says where.
# - `invalid-request`: The runner refused the request: any other 4xx.
ErrorKind: TypeAlias = "Literal[\"server-unreachable\", \"timeout\", \"unauthorized\", \"model-not-found\", \"not-supported\", \"context-exceeded\", \"busy\", \"bad-response\", \"runner-failed\", \"invalid-modelfile\", \"invalid-request\"]"


# Where a fact about a model was learnt. `observed`: from what the model did or refused in this session. `assumed`: nobody said it, and it is what such a server usually does.
FactSource: TypeAlias = "Literal[\"server\", \"observed\", \"name\", \"configured\", \"assumed\"]"


class FetchFileParams(TypedDict):
    url: "str"


class FetchFileResult(TypedDict):
    file: "FoundFile"


# Something that can be fetched, once the user agrees.
Fetchable = TypedDict("Fetchable", {
    "isThere": "bool",
    "bytes": "int",
    "from": "str",
    "licenses": "str",
    "packages": "int",
    "folder": "str",
    "problem": NotRequired["str"],
})


class FileDiff(TypedDict):
    """The change of a text file. The texts come from files and models: a client makes control characters visible."""
    path: "str"
    """The absolute path of the file."""
    name: "str"
    """The path below the folder of the workspace, with slashes."""
    before: NotRequired["str"]
    """Absent: the file is new. Line ends are those of the file."""
    after: "str"
    unified: "str"
    """The hunks of the unified format, with three lines of context, without the lines that name the files."""


class FindFilesParams(TypedDict):
    text: "str"
    """What the user typed, as typed. Each word that begins with `@` may name files."""
    cwd: "str"
    """The absolute path of the folder to which the names are relative."""


class FindFilesResult(TypedDict):
    mentions: "List[FoundMention]"


class FinishLoginParams(TypedDict):
    server: "str"
    redirectedTo: NotRequired["str"]
    """The whole address to which the browser was redirected, if the browser runs on another machine and cannot reach the daemon. Without it the daemon waits for the browser."""


class FinishLoginResult(TypedDict):
    scope: NotRequired["str"]
    """What the login allows, in the words of the server, if it says so."""


# `toolLimit`: the rounds of calls were used up, so the model answered without tools. `toolLoop`: it did so because its calls went round in circles.
FinishReason: TypeAlias = "Literal[\"stop\", \"length\", \"toolCalls\", \"toolLimit\", \"toolLoop\", \"cancelled\"]"


class ForkSessionParams(TypedDict):
    turns: NotRequired["int"]
    """How many of the user's prompts the new conversation begins with, each with what follows it. Without it, all."""
    id: "str"


class FoundFile(TypedDict):
    """A file that the text names, a page that was fetched, or a resource of a tool server."""
    path: "str"
    """Of a resource: as in the text, such as `team:memo://1`."""
    bytes: "int"
    tokens: "int"
    """Estimated."""
    privacy: NotRequired["Literal[\"secret\", \"excluded\"]"]
    """It looks like a secret, or `exclude` names it. The client asks before it sends such a file."""
    attachment: NotRequired["Attachment"]
    """Its text, ready for the `attachments` of a message. Absent if it is a picture."""
    image: NotRequired["str"]
    """A picture as base64, ready for the `images` of a message."""


class FoundMention(TypedDict):
    """A word that names something. The text itself stays as it is."""
    word: "str"
    """As typed, with the `@`."""
    files: "List[FoundFile]"
    url: NotRequired["str"]
    """The address that the word is. Nothing is fetched before the client asks for it."""
    notes: "List[str]"
    """Sentences for the user: what was left out, or why the word names nothing."""


class FoundRunner(TypedDict):
    """A runner that the user has not named."""
    url: "str"
    product: "Product"
    models: NotRequired["int"]
    """Absent if it wants a token."""


class GetPromptParams(TypedDict):
    name: "str"
    text: NotRequired["str"]
    """What the user typed behind the name. It fills the arguments."""
    values: NotRequired["Dict[str, str]"]
    """Values of arguments, by name. They come before what `text` says."""
    cwd: NotRequired["str"]
    """The absolute path of the workspace; default: the root of the client's `initialize`."""


# - `{
#       readonly kind: 'missing';
#       readonly missing: readonly PromptArgument[];
#       /** The values that `text` gave. */
#       readonly values: Readonly<Record<string, string>>;
#       readonly message: string;
#     }`: Required arguments have no value. `message` says so; a client that can asks for them and sends `values`.
# - `{ readonly kind: 'unasked'; readonly folder: PromptFolder; readonly message: string }`: It is in a folder that the user has not been asked about; then `runner/prompts/allow`.
# - `{ readonly kind: 'unusable'; readonly message: string }`: It cannot be used, and why.
# - `{
#       readonly kind: 'none';
#       /** Names that are near, best first. */
#       readonly near: readonly string[];
#     }`: There is no such prompt.
GetPromptResult: TypeAlias = "Union[GetPromptResultPrompt, GetPromptResultMissing, GetPromptResultUnasked, GetPromptResultUnusable, GetPromptResultNone]"


class GetPromptResultMissing(TypedDict):
    kind: "Literal[\"missing\"]"
    missing: "List[PromptArgument]"
    values: "Dict[str, str]"
    """The values that `text` gave."""
    message: "str"


class GetPromptResultNone(TypedDict):
    kind: "Literal[\"none\"]"
    near: "List[str]"
    """Names that are near, best first."""


class GetPromptResultPrompt(TypedDict):
    kind: "Literal[\"prompt\"]"
    name: "str"
    text: "str"
    """The whole text. Nothing in it is looked up: no path, no address, no placeholder in a value."""
    images: NotRequired["List[str]"]
    """Base64, for the `images` of the message. Only a prompt of a tool server has them."""
    model: NotRequired["str"]
    tools: NotRequired["List[str]"]
    """For `hostedTools`."""


class GetPromptResultUnasked(TypedDict):
    kind: "Literal[\"unasked\"]"
    folder: "PromptFolder"
    message: "str"


class GetPromptResultUnusable(TypedDict):
    kind: "Literal[\"unusable\"]"
    message: "str"


class HttpToolServer(TypedDict):
    """A tool server (MCP) at an address, over Streamable HTTP."""
    type: NotRequired["Literal[\"http\"]"]
    url: "str"
    headers: NotRequired["Dict[str, str]"]
    """Sent only to the origin of the address. The values appear in no log and no error."""
    clientId: NotRequired["str"]
    """Our client id at its authorization server, if that server does not register clients itself."""
    disabled: NotRequired["bool"]
    enabled: NotRequired["bool"]


class InitializationOptions(TypedDict):
    """What `initializationOptions` hold besides the settings."""
    trusted: NotRequired["bool"]
    """False for a workspace that the user does not trust. Its settings can then change only what is harmless."""
    sendsUserSettings: NotRequired["bool"]
    """True: while the workspace is not trusted, this client sends only the user's own settings and leaves out those of the workspace. They then take effect at once."""
    refusedTools: NotRequired["List[ToolRefusal]"]
    """What an earlier daemon of the same session sent with `runner/tools/didRefuse`."""
    approvals: NotRequired["Approvals"]
    """Tools that run without a question. The settings have no such key, because a workspace may write settings."""
    builtinTools: NotRequired["bool"]
    """True: models may be offered the built-in tools, which read and edit files of the workspace. The settings have no such key, because a workspace may write settings."""
    checks: NotRequired["Checks"]
    """Commands that models may run. The settings have no such key, because a workspace may write settings."""
    rounds: NotRequired["int"]
    """Rounds of tool calls in one turn."""
    agentContext: NotRequired["int"]
    """Tokens of the window to request for a turn with the built-in tools if nobody has chosen one."""
    projectRules: NotRequired["bool"]
    """False: models with the built-in tools get no rules from files."""
    host: NotRequired["str"]
    """Default: `OLLAMA_HOST`, else `defaultHost`."""
    api: NotRequired["RunnerApi"]
    """Which API the runner at `host` speaks."""
    servers: NotRequired["List[ServerOptions]"]
    chatModel: NotRequired["str"]
    """The model that answers in a chat if nobody chooses another one."""
    completionModel: NotRequired["str"]
    """The model of inline completion."""
    streamLogs: NotRequired["bool"]
    """True lets the daemon start the server logs after `initialized`."""
    logLevel: NotRequired["LogLevel"]
    cacheDir: NotRequired["str"]
    """An absolute path of a folder for what may be kept between runs."""
    modelfilesPath: NotRequired["str"]
    keepAlive: NotRequired["Union[str, float]"]
    """How long a model stays loaded after an answer: seconds, or a duration such as `10m`. A negative value means for ever."""
    contextLength: NotRequired["int"]
    """Tokens of the window (`num_ctx`) to request; 0 leaves it to the runner."""
    modelCapabilities: NotRequired["Dict[str, ModelOverride]"]
    """By the names of models. A name without a tag stands for all its tags; one with a tag counts before it."""
    catalogUrl: NotRequired["str"]
    """Base address of the public catalog."""
    exclude: NotRequired["List[str]"]
    """Globs of files that are never sent. Files that look like secrets are never sent either."""
    caFile: NotRequired["str"]
    """For the server at `host`; every other server has its own."""
    timeouts: NotRequired["Timeouts"]
    keepSessions: NotRequired["bool"]
    """False: no conversation is written to the disk or listed."""
    sessionDays: NotRequired["int"]
    """A conversation is deleted after this many days without a turn."""
    engine: NotRequired["EngineSettings"]
    """For what Runner starts on this machine."""
    mcpServers: NotRequired["ToolServers"]
    """Tool servers. They override those of `initializationOptions` with the same name. A wrong entry does not affect the others."""


class InlineCompletionItem(TypedDict):
    insertText: "str"
    range: "TextRange"
    """Starts at the cursor. It is empty, or covers closers that `insertText` repeats. If an item of the editor's list is selected, it starts where that item's range starts."""
    command: "InlineCompletionItemCommand"
    """`completionAcceptedCommand`."""


class InlineCompletionItemCommand(TypedDict):
    title: "str"
    command: "str"
    arguments: "List[CompletionAcceptedParams]"


class InlineCompletionList(TypedDict):
    items: "List[InlineCompletionItem]"


class InlineCompletionParams(TypedDict):
    """The part of LSP's `InlineCompletionParams` that the daemon reads."""
    context: NotRequired["InlineCompletionParamsContext"]
    textDocument: "InlineCompletionParamsTextDocument"
    position: "TextPosition"


class InlineCompletionParamsContext(TypedDict):
    triggerKind: "int"
    """1: the user asked for it. 2: the editor asked while the user typed."""
    selectedCompletionInfo: NotRequired["SelectedCompletionInfo"]
    """The suggestion continues this text and replaces its range."""


class InlineCompletionParamsTextDocument(TypedDict):
    uri: "str"


class InstalledProgram(TypedDict):
    """A program on this machine that is installed and can be started. It said itself what it is."""
    product: "Literal[\"llama.cpp\", \"ollama\"]"
    path: "str"
    version: "str"


class InvalidParamsData(TypedDict):
    """The `data` of a `-32602` (invalid params) answer."""
    path: "str"
    """What is wrong, such as `messages[0].role`."""
    problem: "str"
    """Why it is wrong, in words that follow a colon."""


class ListChecksResult(TypedDict):
    checks: "List[ListedCheck]"


class ListModelsParams(TypedDict):
    refresh: NotRequired["bool"]
    """True asks the runner even if the daemon has a fresh list."""
    examine: NotRequired["bool"]
    """True examines each model that may chat if its tool support is not known yet, up to 100 models."""
    everywhere: NotRequired["bool"]
    """True lists the models of all servers. A model of another server than the one at `host` has a name such as `box/qwen3:8b`, by which every request without a `server` finds it."""
    server: NotRequired["str"]
    """A name of `servers`; absent means the server at `host`, whose name is `default`."""


class ListModelsResult(TypedDict):
    models: "List[Model]"
    stale: NotRequired["Literal[True]"]
    """The server is down, and this is the last known list."""
    leftOut: NotRequired["int"]
    """The number of models beyond the first 10,000, which a list is limited to."""
    problems: NotRequired["List[ListModelsResultProblemsItem]"]
    """With `everywhere`: the servers whose models are missing, with a sentence each."""


class ListModelsResultProblemsItem(TypedDict):
    server: "str"
    message: "str"


class ListPromptsParams(TypedDict):
    commands: NotRequired["List[str]"]
    """Names of the client's own commands, which come before all prompts."""
    wait: NotRequired["bool"]
    """Waits for tool servers that are not ready, up to 15 s. By default they are started, and waited for a moment; what comes later is in the next list."""
    cwd: NotRequired["str"]
    """The absolute path of the workspace; default: the root of the client's `initialize`."""


class ListPromptsResult(TypedDict):
    prompts: "List[Prompt]"
    """In the order of their names; of several with one name, the one that counts comes first."""
    folder: NotRequired["PromptFolder"]
    """Present if the workspace has such a folder with prompts."""
    problems: "List[str]"
    """What is wrong beside single prompts, each a sentence."""


class ListSessionsParams(TypedDict):
    query: NotRequired["str"]
    """All of its words must occur in the title or in the messages, in upper or lower case."""
    cwd: NotRequired["str"]
    """Lists only conversations that were started in this folder."""
    limit: NotRequired["int"]
    cursor: NotRequired["str"]
    """The `nextCursor` of the previous page."""


class ListSessionsResult(TypedDict):
    sessions: "List[Session]"
    """Newest first."""
    nextCursor: NotRequired["str"]
    """Present if there are more."""


class ListSettingsResult(TypedDict):
    path: "str"
    """The path of the user's own configuration, which may not exist."""
    settings: "List[EffectiveSetting]"
    """In the order of docs/PROTOCOL.md. Those that only clients set are left out."""


class ListToolsParams(TypedDict):
    servers: NotRequired["List[str]"]
    """Names of tool servers. Absent means all of them."""


class ListToolsResult(TypedDict):
    servers: "List[ListedToolServer]"
    """In the order of the entries."""


class ListedCheck(TypedDict):
    """A check of the project folder as it counts now."""
    name: "str"
    folder: "str"
    command: "List[str]"


class ListedTool(TypedDict):
    name: "str"
    """The server's own name for the tool; the model may see another name."""
    title: NotRequired["str"]
    description: "str"
    """What it does."""
    inputSchema: "Dict[str, Any]"
    """A JSON Schema of an object."""
    annotations: NotRequired["ToolAnnotations"]


class ListedToolServer(TypedDict):
    name: "str"
    state: "Literal[\"ready\", \"failed\", \"disabled\"]"
    message: NotRequired["str"]
    """Why it failed, and what to do."""
    advice: NotRequired["Advice"]
    """What can be done about it, if the message ends in that."""
    needsLogin: NotRequired["bool"]
    """It failed because nobody is logged in: `runner/tools/login`, which is `runner mcp login NAME` in a terminal."""
    tools: "List[ListedTool]"


class LoadingState(TypedDict):
    percent: NotRequired["float"]
    """Absent if the server does not say it."""


LogLevel: TypeAlias = "Literal[\"debug\", \"info\", \"warn\", \"error\"]"


class LogParams(TypedDict):
    level: "LogLevel"
    source: "Literal[\"daemon\", \"server\"]"
    message: "str"
    code: NotRequired["Literal[\"configuration\", \"setting\", \"token\", \"tool-server\"]"]
    """What a client may show beside its log: the user's configuration file is wrong, a changed setting is wrong, a token is not sent, or a tool server takes long to start."""
    refused: NotRequired["InvalidParamsData"]
    """With `setting`: the setting, and why it stays as it was."""


class LoginParams(TypedDict):
    server: "str"
    """The name of a tool server at an address."""


class LoginResult(TypedDict):
    url: "str"
    """The address that the user's browser must open: https, or http on this machine."""
    redirectUrl: "str"
    """The address to which the browser is redirected at the end. The daemon listens there until the login ends."""


class LogoutResult(TypedDict):
    wasLoggedIn: "bool"
    isRevoked: "bool"
    """Whether the authorization server confirmed the revocation."""


class Message(TypedDict):
    role: "Role"
    content: "str"
    """In a user message: what the user typed, if the client can separate that from what it attaches."""
    attachments: NotRequired["List[Attachment]"]
    """In a user message: what the client attached. It is context, not something that the user wrote."""
    images: NotRequired["List[str]"]
    """Base64, without a `data:` prefix."""
    thinking: NotRequired["str"]
    toolCalls: NotRequired["List[ToolCall]"]
    """Only in an assistant message."""
    toolCallId: NotRequired["str"]
    """In a tool message: the `id` of the call that it answers."""
    toolName: NotRequired["str"]
    """In a tool message: the name of the tool that answered."""


class Model(TypedDict):
    name: "str"
    """With its tag, such as `qwen3:8b`. Where models of all servers are listed, also such as `box/qwen3:8b`."""
    server: "str"
    size: NotRequired["int"]
    """Bytes on disk."""
    digest: NotRequired["str"]
    """64 hexadecimal digits."""
    modifiedAt: NotRequired["str"]
    family: "str"
    """The daemon's own grouping, by the prefix of the name."""
    details: NotRequired["ModelDetails"]
    capabilities: "ModelCapabilities"
    context: "ContextLength"
    remote: NotRequired["ModelRemote"]
    """Set for a model whose requests the runner forwards to another host."""
    running: NotRequired["RunningState"]
    thinkingLevels: NotRequired["Literal[False]"]
    """False if it can be told whether to think, but not how much: it has refused a level."""
    loading: NotRequired["LoadingState"]
    """Set while the server loads the model, as far as the server says so."""


class ModelCapabilities(TypedDict):
    thinking: "Capability"
    completion: "Capability"
    tools: "Capability"
    vision: "Capability"
    insert: "Capability"
    embedding: "Capability"


class ModelDetails(TypedDict):
    family: "str"
    """The server's own family, such as `qwen2`."""
    parameterSize: "str"
    """Such as `3.1B`."""
    quantization: "str"
    """Such as `Q4_K_M`."""


class ModelOverride(TypedDict):
    """What the user says that a model can do or cannot do. What is absent is learnt as usual."""
    tools: NotRequired["bool"]
    vision: NotRequired["bool"]
    thinking: NotRequired["bool"]
    insert: NotRequired["bool"]


class ModelParams(TypedDict):
    model: "str"
    server: NotRequired["str"]
    """A name of `servers`; absent means the server at `host`, whose name is `default`."""


class ModelRemote(TypedDict):
    host: "str"
    model: "str"


class ModelfileCommand(TypedDict):
    command: "str"
    """In lower case, such as `parameter`."""
    args: "List[str]"
    range: "TextRange"


class ModelfileDiagnostic(TypedDict):
    range: "TextRange"
    message: "str"
    severity: "Literal[1, 2, 3, 4]"
    """As in LSP: 1 error, 2 warning, 3 information, 4 hint."""


class Notice(TypedDict):
    code: "NoticeCode"
    message: "str"
    """A sentence for the user."""
    advice: NotRequired["Advice"]


# - `tools-disabled`: The model does not support tools. They are left out now and for the rest of the session.
# - `tool-choice-ignored`: `toolChoice: "required"` was treated as `auto`, because the server knows no other way.
# - `images-dropped`: The model cannot see images, so they were left out.
# - `context-nearly-full`: The prompt fills at least 90 % of the window.
# - `context-exceeded`: The answer was cut because the window is full.
# - `context-reduced`: The request asked for a larger window than the model can have.
# - `window-asked`: The model is asked for a larger window than it has by itself, because built-in tools need room.
# - `window-small`: The window is small for work with the built-in tools.
# - `rules-cut`: The rules of the project or of the user do not fit into their share of the window, or cannot be read.
# - `rules-untrusted`: The rules of the project are left out, because the workspace is not trusted.
# - `tools-too-large`: The tools take more than a quarter of the window.
# - `results-removed`: Old results of tools were removed from the prompt, because there was no room for them.
# - `edit-forgiven`: An edit was made although its model copied the old text badly.
# - `answer-loops`: The model repeated a text without end, so its answer was stopped.
# - `thinking-unsupported`: The request asked for thinking, but the model has no thinking mode.
# - `tool-call-recovered`: A tool call that the model wrote as text was taken as a call.
# - `tool-call-malformed`: A tool call that the model wrote as text, or at the end of its thinking, does not count. It stays there.
# - `tool-schemas-simplified`: The server refused the schemas of these tools, so the model got simpler ones.
# - `tools-unavailable`: Tool servers that did not start were left out of the turn.
# - `waiting-for-slot`: All slots of the server are busy, so the answer begins when another one has ended.
# - `model-loading`: The model is being loaded; the answer follows.
# - `format-not-held`: The answer is not in the `format` of the request: no JSON, cut, or not as the schema says.
# - `edit-without-block`: Only of an edit: the model marked no lines as the new ones, so its whole answer is taken.
# - `history-missing`: The conversation has turns of which the client has sent none, so the model has not seen them.
# - `answer-lost`: The runner counted tokens but sent nothing: what the model said was lost in the runner.
# - `answer-empty`: The model has stopped without an answer, perhaps after it had thought.
# - `private-files-left-out`: The client had added private files by itself: files that look like secrets or are excluded. Only names are sent.
# - `private-files-sent`: The user attached private files. They are sent.
# - `session-not-kept`: The turn could not be appended to its conversation on the disk.
NoticeCode: TypeAlias = "Literal[\"tools-disabled\", \"tool-choice-ignored\", \"images-dropped\", \"context-nearly-full\", \"context-exceeded\", \"context-reduced\", \"window-asked\", \"window-small\", \"rules-cut\", \"rules-untrusted\", \"tools-too-large\", \"results-removed\", \"edit-forgiven\", \"answer-loops\", \"thinking-unsupported\", \"tool-call-recovered\", \"tool-call-malformed\", \"tool-schemas-simplified\", \"tools-unavailable\", \"waiting-for-slot\", \"model-loading\", \"format-not-held\", \"edit-without-block\", \"history-missing\", \"answer-lost\", \"answer-empty\", \"private-files-left-out\", \"private-files-sent\", \"session-not-kept\"]"


ParameterValue: TypeAlias = "Union[str, float, bool]"


class ParseModelfileParams(TypedDict):
    text: "str"


class ParseModelfileResult(TypedDict):
    commands: "List[ModelfileCommand]"
    diagnostics: "List[ModelfileDiagnostic]"


class PartProgress(TypedDict):
    """One part of some work: a layer that is downloaded, or a file that is hashed and uploaded."""
    name: "str"
    """The first twelve digits of a layer's digest, or the name of a file."""
    completed: "int"
    """Bytes. It may fall when the runner starts a layer again."""
    total: "int"
    """Bytes."""


class ProbeCatalogParams(TypedDict):
    """As it would stand in `catalogUrl`."""
    url: "str"


class ProbeParams(TypedDict):
    url: "str"
    """As the user typed it, in any form that `OLLAMA_HOST` may have."""
    server: NotRequired["str"]
    """A name of `servers`; absent means the server at `host`, whose name is `default`."""


class ProbeResult(TypedDict):
    version: "str"
    """Empty if the runner has none."""
    product: "Product"


# The programs that can run models, as far as they differ for a user.
Product: TypeAlias = "Literal[\"ollama\", \"llama.cpp\", \"lmstudio\", \"vllm\", \"other\"]"


class ProgressParams(TypedDict):
    token: "ProgressToken"
    value: "WorkProgress"


# LSP's token of work-done progress.
ProgressToken: TypeAlias = "Union[str, float]"


# A prompt that the user or a workspace keeps under a name, or that a tool server (MCP) offers.
Prompt = TypedDict("Prompt", {
    "name": "str",
    "description": "str",
    "from": "Literal[\"user\", \"workspace\", \"server\"]",
    "server": NotRequired["str"],
    "path": NotRequired["str"],
    "arguments": "List[PromptArgument]",
    "model": NotRequired["str"],
    "tools": NotRequired["List[str]"],
    "problem": NotRequired["str"],
    "line": NotRequired["int"],
    "hiddenBy": NotRequired["Literal[\"command\", \"prompt\"]"],
})


class PromptArgument(TypedDict):
    name: "str"
    """One word. In a file it is a letter, and then letters, digits, `_` or `-`, and stands in the text as `{{name}}`."""
    description: NotRequired["str"]
    required: NotRequired["bool"]
    """Absent or false: without a value, nothing stands in its place."""


class PromptFolder(TypedDict):
    """The `.runner/prompts` of a workspace. Its prompts count only once the user has allowed them, and while the workspace is trusted."""
    path: "str"
    """Its absolute path."""
    state: "Literal[\"unasked\", \"allowed\", \"refused\", \"untrusted\"]"
    files: "int"
    """How many prompts it has."""


class PullModelParams(TypedDict):
    model: "str"
    server: NotRequired["str"]
    """A name of `servers`; absent means the server at `host`, whose name is `default`."""
    workDoneToken: NotRequired["ProgressToken"]
    """Without it the daemon makes a token, if the editor has `window.workDoneProgress`."""


class PullModelResult(TypedDict):
    model: "str"


class ReadSessionParams(TypedDict):
    open: NotRequired["bool"]
    """True if the conversation is to be continued. If another process has it open, the answer is the error `busy` at once."""
    id: "str"


class ReadSessionResult(TypedDict):
    session: "Session"
    messages: "List[SessionMessage]"
    settings: NotRequired["ConversationSettings"]
    """Absent if no turn had any, and in conversations of earlier versions."""
    cleared: NotRequired["ClearedParts"]
    """What was removed from its prompts to save room. The messages are all there."""


class RedoEditsParams(TypedDict):
    session: "str"
    """The `id` of a kept conversation."""


class ResourceWord(TypedDict):
    """A resource of a tool server, or the beginning of some, as it is typed."""
    word: "str"
    """Without the `@`, such as `team:` or `team:memo://1`."""
    description: NotRequired["str"]
    """One line."""


class RestoredEdits(TypedDict):
    restored: "List[str]"
    """The names of the files."""
    left: "List[RestoredEditsLeftItem]"
    """Files that are not as the edits left them, and stay. `reason` is a sentence."""


class RestoredEditsLeftItem(TypedDict):
    name: "str"
    reason: "str"


Role: TypeAlias = "Literal[\"system\", \"user\", \"assistant\", \"tool\"]"


class RunModelParams(TypedDict):
    keepAlive: NotRequired["Union[str, float]"]
    model: "str"
    server: NotRequired["str"]
    """A name of `servers`; absent means the server at `host`, whose name is `default`."""


class RunModelResult(TypedDict):
    model: "Model"


# Which API a runner speaks. `auto` asks it, and asks again after its connection was lost.
RunnerApi: TypeAlias = "Literal[\"auto\", \"ollama\", \"openai\"]"


class RunnerCapabilities(TypedDict):
    """What `runnerd` adds to the `initialize` result under `capabilities.experimental.runner`."""
    protocolVersion: "int"
    isHostNamed: NotRequired["bool"]
    """True if an option, the environment or the user's configuration names the runner's address; otherwise the default address is used."""
    toolServers: NotRequired["List[str]"]
    """Names of the tool servers in the user's own configuration, in their order, without the disabled ones. Empty if the client has settings of its own."""


class RunningModelsResult(TypedDict):
    models: "List[Model]"


class RunningState(TypedDict):
    expiresAt: "str"
    size: "int"
    """Bytes of memory."""
    sizeVram: "int"
    """The part of it on the GPU, in bytes."""


class SearchFilesParams(TypedDict):
    text: "str"
    """The user's question. Its words are looked for, but not those that every question has."""
    cwd: "str"
    """The absolute path of the folder whose files are searched."""
    tokens: "int"
    """The most tokens that the excerpts may have together, estimated."""


class SearchFilesResult(TypedDict):
    files: "List[FoundFile]"
    """Excerpts, best first. Their attachments have `lines`, and are `automatic`."""
    notes: "List[str]"
    """Sentences for the user: what was not searched."""


class SecretLine(TypedDict):
    """One line of the newline-delimited JSON on the descriptor of `runnerd --secrets-fd N`. A later line for an origin replaces an earlier one. A secret is sent to its own origin only. Over plain http it is sent only to loopback, or to a runner if `allowPlainHttp` is true."""
    origin: "str"
    """Scheme, host and port, such as `https://models.example.org:8443`."""
    secret: "Union[str, None]"
    """Sent as `Authorization: Bearer …`, or as `Basic …` if it has the form `user:password` and the server asks for that; `null` forgets it."""
    headers: NotRequired["Dict[str, str]"]
    """More headers for this origin."""
    allowPlainHttp: NotRequired["bool"]
    """The user has allowed that a runner at this origin gets the secret over plain http."""


class SelectedCompletionInfo(TypedDict):
    """As in LSP: the item that is selected in the editor's own list of completions, and what it would replace."""
    range: "TextRange"
    text: "str"


class ServerOptions(TypedDict):
    """A runner besides the one at `host`."""
    name: "str"
    """Unique. The name `default` belongs to the server at `host`."""
    url: "str"
    """Scheme, host, port and an optional path prefix."""
    caFile: NotRequired["str"]
    """An absolute path to a PEM file with certificates to trust for this server."""
    api: NotRequired["RunnerApi"]
    """Which API it speaks."""


class ServerParams(TypedDict):
    """What every request about a runner takes in addition to its own parameters."""
    server: NotRequired["str"]
    """A name of `servers`; absent means the server at `host`, whose name is `default`."""


class ServerStatus(TypedDict):
    """A configured server and its status."""
    name: "str"
    url: "str"
    """Its base address."""
    status: "Status"
    """Of a server that does not answer in time: `offline`."""


class ServersResult(TypedDict):
    servers: "List[ServerStatus]"


class Session(TypedDict):
    """A conversation that is kept in the user's state folder."""
    id: "str"
    """Eight digits, a hyphen, and eight letters or digits."""
    title: "str"
    """The title that was set, else the first line of the first prompt, at most 60 characters. Empty before the first prompt."""
    cwd: NotRequired["str"]
    """The absolute path of the folder in which it was started."""
    model: NotRequired["str"]
    """The model that was asked last."""
    createdAt: "str"
    updatedAt: "str"
    turns: "int"
    """How many prompts of the user it holds."""
    kept: NotRequired["Literal[False]"]
    """False if it is not on the disk: its messages are in the daemon's memory, until it is closed."""


class SessionMessage(TypedDict):
    """A message as it is kept. The added fields are ignored when it is sent as history in the `messages` of a chat."""
    at: NotRequired["str"]
    """When it was written."""
    model: NotRequired["str"]
    """In an answer: the model that gave it."""
    partial: NotRequired["Literal[\"cancelled\", \"failed\"]"]
    """In an incomplete answer: it was cancelled, or it failed."""
    role: "Role"
    content: "str"
    """In a user message: what the user typed, if the client can separate that from what it attaches."""
    attachments: NotRequired["List[Attachment]"]
    """In a user message: what the client attached. It is context, not something that the user wrote."""
    images: NotRequired["List[str]"]
    """Base64, without a `data:` prefix."""
    thinking: NotRequired["str"]
    toolCalls: NotRequired["List[ToolCall]"]
    """Only in an assistant message."""
    toolCallId: NotRequired["str"]
    """In a tool message: the `id` of the call that it answers."""
    toolName: NotRequired["str"]
    """In a tool message: the name of the tool that answered."""


class SessionParams(TypedDict):
    id: "str"


class SetHostParams(TypedDict):
    url: "str"
    """As the user typed it, in any form that `OLLAMA_HOST` may have."""


class SetHostResult(TypedDict):
    path: "str"


class SetModeParams(TypedDict):
    streamId: "str"
    mode: "AgentMode"


class ShowModelResult(TypedDict):
    model: "Model"
    template: NotRequired["str"]
    parameters: NotRequired["Dict[str, Union[str, float, List[ParameterValue], bool]]"]
    """By name: a value, or an array if the parameter is repeated."""
    system: NotRequired["str"]
    license: NotRequired["str"]
    modelfile: NotRequired["str"]


class StartLogsResult(TypedDict):
    source: "str"
    """The path or the command that the lines come from."""


class Status(TypedDict):
    state: "Literal[\"checking\", \"online\", \"busy\", \"offline\"]"
    kind: "Literal[\"ok\", \"warning\", \"error\"]"
    message: "str"
    """A sentence for the user."""
    version: NotRequired["str"]
    """The runner's version, if known."""
    product: NotRequired["Product"]
    """What answers there; absent as long as nothing has."""
    can: NotRequired["List[Ability]"]
    command: NotRequired["StatusCommand"]
    """The command that would solve the problem."""
    advice: NotRequired["Advice"]


class StatusCommand(TypedDict):
    title: "str"
    command: "str"
    arguments: NotRequired["List[Any]"]


class StdioToolServer(TypedDict):
    """A tool server (MCP) that the daemon starts. They communicate over the server's standard input and output."""
    command: "str"
    args: NotRequired["List[str]"]
    env: NotRequired["Dict[str, str]"]
    """Added to what every server inherits. The values appear in no log and no error."""
    cwd: NotRequired["str"]
    """Default: the workspace's root, else `HOME`."""
    disabled: NotRequired["bool"]
    enabled: NotRequired["bool"]


class SuggestChecksResult(TypedDict):
    suggestions: "List[SuggestedCheck]"


class SuggestedCheck(TypedDict):
    """What a file of the project suggests."""
    file: "str"
    """The name of the file, in the folder."""
    hash: "str"
    """Of the whole file: with another content it is another suggestion."""
    name: "str"
    folder: "str"
    command: "List[str]"


class TextPosition(TypedDict):
    """As in LSP: both count from 0, characters in UTF-16 code units."""
    line: "int"
    character: "int"


class TextRange(TypedDict):
    start: "TextPosition"
    end: "TextPosition"


ThinkLevel: TypeAlias = "Literal[\"low\", \"medium\", \"high\", \"max\"]"


class Timeouts(TypedDict):
    """Time limits in milliseconds; 0 means no limit."""
    connect: NotRequired["int"]
    """To open a connection."""
    list: NotRequired["int"]
    """For a whole short answer such as a list."""
    firstByte: NotRequired["int"]
    """Until a chat's first byte, which leaves time to load a model."""
    idle: NotRequired["int"]
    """Between two reads of a stream."""
    tool: NotRequired["int"]
    """For a call that the daemon runs, as long as it reports no progress."""
    toolTotal: NotRequired["int"]
    """For such a call in total."""
    toolStart: NotRequired["int"]
    """For the start of a tool server. It goes on after that, and is there for the next turn."""


class Tool(TypedDict):
    name: "str"
    description: "str"
    inputSchema: "Dict[str, Any]"
    """A JSON Schema of an object."""


class ToolAnnotations(TypedDict):
    """What a server says about a tool. It is shown but decides nothing, because the server may say anything."""
    title: NotRequired["str"]
    readOnlyHint: NotRequired["bool"]
    destructiveHint: NotRequired["bool"]
    idempotentHint: NotRequired["bool"]
    openWorldHint: NotRequired["bool"]


class ToolCall(TypedDict):
    id: "str"
    name: "str"
    arguments: "Dict[str, Any]"


class ToolCapabilities(TypedDict):
    """What a client announces about itself as `capabilities.experimental.runner`."""
    protocolVersion: NotRequired["int"]
    """The version of this protocol that the client needs. A daemon that does not speak it refuses `initialize`."""
    approvesTools: NotRequired["bool"]
    """The client answers `runner/tools/approve`. Otherwise the daemon runs only what `approvals` allow."""
    elicits: NotRequired["bool"]
    """The client answers `runner/tools/elicit`. Otherwise no tool server is told that it can ask the user."""
    showsDiffs: NotRequired["bool"]
    """The client shows `diff` with its question. Otherwise no model is offered the built-in tool that edits files."""
    decisions: NotRequired["List[Literal[\"answer\", \"stop\"]]"]
    """Which of the later decisions the client can give."""
    folder: NotRequired["str"]
    """An absolute path: the folder that the built-in tools use if the client has no workspace, as in a terminal."""


# `session` applies until the daemon ends, `always` until the tool's description or schema changes. `answer` applies to all edits of this chat. `stop` denies the call and ends the chat as cancelled. The last two are offered only for edits, and only to a client whose `ToolCapabilities.decisions` name them.
ToolDecision: TypeAlias = "Literal[\"once\", \"session\", \"always\", \"answer\", \"deny\", \"stop\"]"


class ToolProgress(TypedDict):
    streamId: "str"
    """The `streamId` of the chat."""
    id: "str"
    """The `id` of the call."""
    progress: "float"
    """Grows with each report."""
    total: NotRequired["float"]
    """What `progress` reaches at the end, if the server knows it."""
    message: NotRequired["str"]
    """What the server is doing."""


class ToolRefusal(TypedDict):
    """A model that refused tools. It gets no tools for the rest of the editor's session."""
    url: "str"
    """The address of its server."""
    model: "str"
    digest: NotRequired["str"]
    """The model's digest at the time. With another digest it is another model, and the refusal is forgotten."""


class ToolRefusals(TypedDict):
    refusals: "List[ToolRefusal]"


class ToolResult(TypedDict):
    """The outcome of a call that the daemon ran or refused, as the model reads it."""
    id: "str"
    """The `id` of the call."""
    name: "str"
    """The name by which the model knows the tool."""
    server: "str"
    """The tool's server; empty if no tool of a tool server has this name."""
    content: "str"
    """At most 32,000 characters."""
    isError: "bool"
    """The call failed, was denied, or had arguments that the tool does not take. The content says why."""
    output: NotRequired["str"]
    """How a check ended and what it has written, if the content has only a part of that: about 256 Ki characters at most, without escape sequences, overwritten lines and repeats."""
    diff: NotRequired["FileDiff"]
    """What the call has changed, if nobody was asked about it. Only a client with `showsDiffs` gets it."""
    images: NotRequired["List[str]"]
    """Base64. In the content, `[image, …]` stands for each of them."""
    unapprovedTool: NotRequired["str"]
    """The server's own name of the tool, if the call was not run because `approvals` do not allow it and nobody could be asked."""


# Tool servers by name.
ToolServers: TypeAlias = "Dict[str, Union[StdioToolServer, HttpToolServer]]"


class TrustParams(TypedDict):
    trusted: "bool"


class UndoTurnResult(TypedDict):
    session: "Session"
    prompt: NotRequired["Message"]
    """The prompt that was taken out, with what was attached to it. Absent if there was no turn."""


class UpdateSessionParams(TypedDict):
    title: "str"
    """One line."""
    id: "str"


class UpdateSessionResult(TypedDict):
    session: "Session"


class Usage(TypedDict):
    """Tokens as the runner counted them; 0 if it gave no count."""
    promptTokens: "int"
    completionTokens: "int"
    contextLength: NotRequired["int"]
    """Tokens of the allocated window, if known."""


class WorkDoneParams(TypedDict):
    """Parameters of a request that reports work-done progress."""
    workDoneToken: NotRequired["ProgressToken"]
    """Without it the daemon makes a token, if the editor has `window.workDoneProgress`."""


class WorkEnd(TypedDict):
    kind: "Literal[\"end\"]"
    message: NotRequired["str"]


# The values of work-done progress as in LSP, plus what a client needs to draw more than one bar. There are at most ten reports a second. Each holds the whole current state, so a lost one does no harm.
WorkProgress: TypeAlias = "Union[WorkProgressBegin, WorkProgressReport, WorkEnd]"


class WorkProgressBegin(TypedDict):
    kind: "Literal[\"begin\"]"
    title: "str"
    """Such as `Pulling qwen3:4b`."""
    cancellable: "Literal[True]"
    percentage: "Literal[0]"


class WorkProgressReport(TypedDict):
    kind: "Literal[\"report\"]"
    percentage: NotRequired["float"]
    """It never falls, and it is absent while nothing can be counted."""
    message: "str"
    """What is happening, such as `Downloading: 1.2 of 4.7 GB`."""
    completed: NotRequired["int"]
    """Bytes of all parts that are known so far."""
    total: NotRequired["int"]
    parts: NotRequired["List[PartProgress]"]
    """In the order in which they started."""


class Daemon(Protocol):
    """A connection to runnerd."""
    @overload
    def request(self, method: Literal["runner/chat"], params: ChatParams) -> ChatResult:
        """One turn. A cancelled chat is a normal result with the answer so far."""
        ...
    @overload
    def request(self, method: Literal["runner/chat/setMode"], params: SetModeParams) -> Dict[str, Any]:
        """The user has chosen another mode while a chat runs. It decides at once what is asked; the tools that the model is offered change with the next turn. It does nothing if the chat has ended."""
        ...
    @overload
    def request(self, method: Literal["textDocument/inlineCompletion"], params: InlineCompletionParams) -> Union[InlineCompletionList, None]:
        """Asks for a suggestion at the cursor. Never an error; null means superseded, cancelled or impossible."""
        ...
    @overload
    def request(self, method: Literal["runner/edit"], params: EditParams) -> EditResult:
        """Lines of a file as an instruction wants them. A cancelled edit is a normal result."""
        ...
    @overload
    def request(self, method: Literal["runner/engine/status"], params: Dict[str, Any]) -> EngineStatus:
        """What was started here, and what is installed for it."""
        ...
    @overload
    def request(self, method: Literal["runner/engine/offers"], params: Dict[str, Any]) -> EngineOffers:
        """What could be started or fetched. Programs are run with `--version`; nothing else is."""
        ...
    @overload
    def request(self, method: Literal["runner/engine/models"], params: EngineModelsParams) -> EngineModelsResult:
        """The models on this machine that the engine could load."""
        ...
    @overload
    def request(self, method: Literal["runner/engine/install"], params: WorkDoneParams) -> EngineInstallResult:
        """Install the library of the engine. The user has agreed."""
        ...
    @overload
    def request(self, method: Literal["runner/engine/sample"], params: WorkDoneParams) -> EngineSampleResult:
        """Fetch the small model. The user has agreed."""
        ...
    @overload
    def request(self, method: Literal["runner/engine/start"], params: EngineStartParams) -> EngineStatus:
        """Start it; answered once it is ready. One that runs already with what is asked for is used. Another one is ended first."""
        ...
    @overload
    def request(self, method: Literal["runner/engine/stop"], params: Dict[str, Any]) -> EngineStopResult:
        """End it; answered once it is gone."""
        ...
    @overload
    def request(self, method: Literal["runner/engine/remove"], params: Dict[str, Any]) -> EngineRemoveResult:
        """Delete the library and the sample."""
        ...
    @overload
    def request(self, method: Literal["runner/files/find"], params: FindFilesParams) -> FindFilesResult:
        """The files that a text names by `@path`, `@folder/` or `@src/**\\/*.ts`, and the resources of tool servers, by `@server:uri`. Words that name nothing and do not look like a path are left out of the result."""
        ...
    @overload
    def request(self, method: Literal["runner/files/fetch"], params: FetchFileParams) -> FetchFileResult:
        """The text of a page. The client asks the user before, and shows the host."""
        ...
    @overload
    def request(self, method: Literal["runner/files/complete"], params: CompleteResourceParams) -> CompleteResourceResult:
        """The resources whose words begin with what was typed behind an `@`; before the colon, the servers. A server is started, and waited for a moment, once its name is whole."""
        ...
    @overload
    def request(self, method: Literal["runner/files/search"], params: SearchFilesParams) -> SearchFilesResult:
        """The excerpts of the files of a folder that have most of the words of a question."""
        ...
    @overload
    def request(self, method: Literal["runner/logs/start"], params: ServerParams) -> StartLogsResult:
        """Follow the logs of a runner on this host."""
        ...
    @overload
    def request(self, method: Literal["runner/logs/stop"], params: ServerParams) -> StartLogsResult:
        """Follow them no longer."""
        ...
    @overload
    def request(self, method: Literal["runner/modelfile/parse"], params: ParseModelfileParams) -> ParseModelfileResult:
        """Read a Modelfile."""
        ...
    @overload
    def request(self, method: Literal["runner/models/list"], params: ListModelsParams) -> ListModelsResult:
        """The installed models, newest first."""
        ...
    @overload
    def request(self, method: Literal["runner/models/chatModel"], params: ServerParams) -> ChatModelResult:
        """Which model answers. Clients ask when a conversation begins. Without a `server` it may be one of any server, with a name as for `everywhere`; a model of another server than the one at `host` counts if it was chosen, or if that has none."""
        ...
    @overload
    def request(self, method: Literal["runner/models/choose"], params: ModelParams) -> Dict[str, Any]:
        """The user chose this model to chat with, or it answered. Clients remember it; `""` forgets."""
        ...
    @overload
    def request(self, method: Literal["runner/models/running"], params: ServerParams) -> RunningModelsResult:
        """The models that are loaded now."""
        ...
    @overload
    def request(self, method: Literal["runner/models/show"], params: ModelParams) -> ShowModelResult:
        """Everything about one model."""
        ...
    @overload
    def request(self, method: Literal["runner/models/library"], params: CatalogParams) -> CatalogResult:
        """The public library."""
        ...
    @overload
    def request(self, method: Literal["runner/models/cloud"], params: CatalogParams) -> CatalogResult:
        """The cloud models."""
        ...
    @overload
    def request(self, method: Literal["runner/models/probeCatalog"], params: ProbeCatalogParams) -> Dict[str, Any]:
        """Ask whether a catalog answers at an address that is not in the settings yet."""
        ...
    @overload
    def request(self, method: Literal["runner/models/pull"], params: PullModelParams) -> PullModelResult:
        """Download a model. Two pulls of one model share one download."""
        ...
    @overload
    def request(self, method: Literal["runner/models/create"], params: CreateModelParams) -> CreateModelResult:
        """Create a model from a Modelfile; either `path` or `text` is given."""
        ...
    @overload
    def request(self, method: Literal["runner/models/run"], params: RunModelParams) -> RunModelResult:
        """Load a model."""
        ...
    @overload
    def request(self, method: Literal["runner/models/stop"], params: ModelParams) -> Dict[str, Any]:
        """Unload a model; answered once it is gone."""
        ...
    @overload
    def request(self, method: Literal["runner/models/delete"], params: DeleteModelParams) -> Dict[str, Any]:
        """Remove a model from the disk."""
        ...
    @overload
    def request(self, method: Literal["runner/prompts/list"], params: ListPromptsParams) -> ListPromptsResult:
        """Which prompts there are, those that cannot be used too. Files and servers are asked each time."""
        ...
    @overload
    def request(self, method: Literal["runner/prompts/get"], params: GetPromptParams) -> GetPromptResult:
        """The text of a prompt, with its arguments filled in."""
        ...
    @overload
    def request(self, method: Literal["runner/prompts/complete"], params: CompletePromptParams) -> CompletePromptResult:
        """What the user may mean, at most 100 values. It is empty if the prompt is a file, or if its server does not know or does not answer in time."""
        ...
    @overload
    def request(self, method: Literal["runner/prompts/allow"], params: AllowPromptsParams) -> AllowPromptsResult:
        """The user's answer to the question whether the prompts of the workspace's folder count. It is kept for every client."""
        ...
    @overload
    def request(self, method: Literal["runner/sessions/create"], params: CreateSessionParams) -> CreateSessionResult:
        """Creates a conversation, for the `session` of a chat."""
        ...
    @overload
    def request(self, method: Literal["runner/sessions/list"], params: ListSessionsParams) -> ListSessionsResult:
        """Lists the kept conversations."""
        ...
    @overload
    def request(self, method: Literal["runner/sessions/read"], params: ReadSessionParams) -> ReadSessionResult:
        """Reads one conversation with all of its messages."""
        ...
    @overload
    def request(self, method: Literal["runner/sessions/update"], params: UpdateSessionParams) -> UpdateSessionResult:
        """Changes the title."""
        ...
    @overload
    def request(self, method: Literal["runner/sessions/undo"], params: SessionParams) -> UndoTurnResult:
        """Takes the last turn out of a conversation: its prompt, with prompts before it that were never answered, and everything after it. Without a turn, nothing changes."""
        ...
    @overload
    def request(self, method: Literal["runner/sessions/fork"], params: ForkSessionParams) -> ReadSessionResult:
        """Begins a new conversation with what was said in another one, which stays as it is."""
        ...
    @overload
    def request(self, method: Literal["runner/sessions/delete"], params: SessionParams) -> Dict[str, Any]:
        """Removes a conversation from the disk."""
        ...
    @overload
    def request(self, method: Literal["runner/sessions/close"], params: SessionParams) -> Dict[str, Any]:
        """Other programs may continue the conversation. Its next turn opens it again."""
        ...
    @overload
    def request(self, method: Literal["runner/settings/list"], params: Dict[str, Any]) -> ListSettingsResult:
        """Which settings count, and where each comes from."""
        ...
    @overload
    def request(self, method: Literal["runner/status"], params: ServerParams) -> Status:
        """Ask for the runner's status."""
        ...
    @overload
    def request(self, method: Literal["runner/servers"], params: Dict[str, Any]) -> ServersResult:
        """Ask for the status of every configured server, the one at `host` first. All are asked at once, and none delays the answer by more than four seconds."""
        ...
    @overload
    def request(self, method: Literal["runner/probe"], params: ProbeParams) -> ProbeResult:
        """Ask whether a runner answers at an address that is not in the settings yet. `server` is the server that would have the address: its CA file counts. The answer is an error if no runner answers within four seconds."""
        ...
    @overload
    def request(self, method: Literal["runner/discover"], params: Dict[str, Any]) -> DiscoverResult:
        """Look for runners at the usual ports of this machine, without any token. Clients ask when the user starts a check and nothing answers where it should; nothing is set."""
        ...
    @overload
    def request(self, method: Literal["runner/setHost"], params: SetHostParams) -> SetHostResult:
        """The user wants this runner from now on. It becomes `host` in the user's own configuration, and counts when a daemon starts. A client with settings of its own sets it there instead."""
        ...
    @overload
    def request(self, method: Literal["runner/tools/list"], params: ListToolsParams) -> ListToolsResult:
        """Lists the tool servers and what they offer. Servers that do not run yet are started; the daemon waits up to 15 s for them."""
        ...
    @overload
    def request(self, method: Literal["runner/tools/login"], params: LoginParams) -> LoginResult:
        """Begins a login (OAuth). It ends an earlier login to the same server that is still open."""
        ...
    @overload
    def request(self, method: Literal["runner/tools/finishLogin"], params: FinishLoginParams) -> FinishLoginResult:
        """Waits until the user is logged in, for ten minutes at most. A cancel ends the login."""
        ...
    @overload
    def request(self, method: Literal["runner/tools/logout"], params: LoginParams) -> LogoutResult:
        """Forgets the login, and revokes it if the server offers that."""
        ...
    @overload
    def request(self, method: Literal["runner/edits/list"], params: EditsParams) -> EditsResult:
        """The edits of the last turn, if it is the one with this prompt."""
        ...
    @overload
    def request(self, method: Literal["runner/edits/undo"], params: EditsParams) -> RestoredEdits:
        """Takes these edits back. Nothing that anybody else has changed is overwritten."""
        ...
    @overload
    def request(self, method: Literal["runner/edits/redo"], params: RedoEditsParams) -> RestoredEdits:
        """Brings back what was taken back last in the conversation."""
        ...
    @overload
    def request(self, method: Literal["runner/checks/list"], params: Dict[str, Any]) -> ListChecksResult:
        """The checks that a model may be offered."""
        ...
    @overload
    def request(self, method: Literal["runner/checks/suggest"], params: Dict[str, Any]) -> SuggestChecksResult:
        """What files of the project suggest, without the names that are taken."""
        ...
    @overload
    def request(self, method: Literal["runner/checks/allow"], params: AllowCheckParams) -> Dict[str, Any]:
        """The user takes this suggestion. It counts until its file changes."""
        ...
