---@meta
--- Made from protocol/messages of Runner by "npm run generate": version 1 of its protocol.

--- What a runner can do. A client offers that and nothing else.
--- - `count`: Counts a prompt before it is sent.
--- - `embed`: Makes vectors of texts. No message asks for it yet. It is said of Ollama alone; other servers may do it too.
--- - `catalog`: The models of the public library, and of its cloud, can be used there.
---@alias runner.Ability 'chat'|'complete'|'count'|'load'|'unload'|'pull'|'delete'|'create'|'embed'|'logs'|'catalog'

--- The advice in a message. The message is `problem`, a blank and `text`.
---@class runner.Advice
---@field code runner.AdviceCode
---@field problem string What is wrong, in one or more sentences. A client puts its own words for the code after it.
---@field text string The advice in words that fit any client.
---@field server? string With `log-in`: the name of the tool server.
---@field contextLength? integer With `shorten-prompt`, `offer-fewer-tools` and `make-room`: the tokens of a window that fits; 0 if the model can have none. Absent if that is not known.

--- - `start-runner`: No runner answers at the address.
--- - `check-address`: Something else answers at the address, or nothing with its name.
--- - `check-proxy`: A web page answers at the address.
--- - `set-address`: The address leads to another one, which is not followed.
--- - `name-ca-file`: The certificate of the runner is not trusted.
--- - `set-token`: The server wants a token, or another one.
--- - `set-password`: The server wants a user name and a password, or other ones. They are stored as a token is.
--- - `use-https`: There is a token, and it is not sent over plain http to another machine.
--- - `shorten-prompt`: The prompt does not fit into the context window.
--- - `offer-fewer-tools`: The prompt does not fit, and most of it describes tools.
--- - `make-room`: The prompt nearly fills the context window.
--- - `log-in`: The tool server wants a login; `server` names it.
--- - `wait-for-restart`: The tool server has failed and is started again later, or is still starting.
--- - `check-network`: The model catalog cannot be reached.
--- - `set-catalog`: What answers is no model catalog.
---@alias runner.AdviceCode 'start-runner'|'check-address'|'check-proxy'|'set-address'|'name-ca-file'|'set-token'|'set-password'|'use-https'|'shorten-prompt'|'offer-fewer-tools'|'make-room'|'log-in'|'wait-for-restart'|'check-network'|'set-catalog'

--- A check that was run.
---@class runner.AgentCheck
---@field name string
---@field exitCode number|nil Null if it did not exit by itself.
---@field ms integer

---@class runner.AgentEdit
---@field path string Below the folder of the workspace.
---@field added integer In lines, as `removed`.
---@field removed integer

--- How far a model may go with the built-in tools; only the user chooses it. `read`: it is offered neither edits nor checks. `ask`: the user is asked about each. `edit`: edits are made without a question. `auto`: so are reads and checks, in a trusted workspace. Some files are asked about in every mode, because they decide what runs.
---@alias runner.AgentMode 'read'|'ask'|'edit'|'auto'

---@class runner.AgentParams
---@field mode? runner.AgentMode
---@field cleared? runner.ClearedParts What an earlier turn reported. A kept conversation (`session`) needs none, because its file has it.

--- What a turn with the built-in tools did.
---@class runner.AgentResult
---@field rounds integer How often the model was asked.
---@field cleared? runner.ClearedParts Absent if nothing is removed.
---@field edits runner.AgentEdit[] In their order; a file that was edited again is here again.
---@field checks runner.AgentCheck[]

---@class runner.AllowCheckParams
---@field name string
---@field folder string
---@field hash string Of the whole file: with another content it is another suggestion.

---@class runner.AllowPromptsParams
---@field allowed boolean
---@field cwd? string The absolute path of the workspace; default: the root of the client's `initialize`.

---@class runner.AllowPromptsResult
---@field folder? runner.PromptFolder

--- Tools that run without a question, by the name of their server and their own name.
---@alias runner.Approvals table<string, string[]|'always'>

---@class runner.ApproveToolParams
---@field streamId string The `streamId` of the chat that wants the call.
---@field toolCall runner.ToolCall
---@field server string
---@field title? string
---@field description string
---@field annotations? runner.ToolAnnotations
---@field diff? runner.FileDiff What the call would change, in place of most of its arguments. Only a client with `showsDiffs` gets it.
---@field command? string[] The words of the command that the call would run. They may come from a model.
---@field decisions? runner.ToolDecision[] The possible answers. Absent: `once`, `session`, `always` and `deny`. Any other answer is a denial.

---@class runner.ApproveToolResult
---@field decision runner.ToolDecision
---@field reason? string With `deny` and `stop`: what the model should know of it, of which 1,000 characters count.

--- A text that accompanies what the user typed, such as a file or selected lines.
---@class runner.Attachment
---@field path string Where the text comes from, as the model sees it: a path, an address or a few words.
---@field lines? string The lines that the text covers, counted from 1, such as `3-9`. Absent means the whole file.
---@field language? string The language of the text, such as `lua`.
---@field text string
---@field uris? string[] The addresses of the files that the text comes from, such as `file:///home/me/a.lua`; of a renamed file both. They decide whether the text is private. Without them, `path` does.
---@field automatic? boolean The client added it, and the user did not name it. If it is private, only its name is sent.

---@class runner.CancelChatParams
---@field streamId string

--- Whether a model can do something, and how the daemon learnt it.
---@class runner.Capability
---@field value boolean|'unknown'
---@field from runner.FactSource

---@class runner.CatalogEntry
---@field name string The name in the catalog.
---@field model string The name to pull. For a cloud model it has the runner's suffix, such as `gpt-oss:120b-cloud`.
---@field description? string
---@field capabilities? string[]
---@field sizes? string[] Such as `8b`.
---@field url string
---@field family string
---@field installed boolean True if `model` is installed, or, for a name without a tag, any tag of it.

---@class runner.CatalogParams
---@field query? string
---@field refresh? boolean
---@field cached? boolean Answers with the list that is kept, however old it is, and asks no catalog.
---@field server? string A name of `servers`; absent means the server at `host`, whose name is `default`.

---@class runner.CatalogResult
---@field entries runner.CatalogEntry[]
---@field fetchedAt string
---@field stale? true

---@alias runner.ChatDelta runner.ChatDeltaText|runner.ChatDeltaToolCall|runner.ChatDeltaToolResult|runner.ChatDeltaNotice

---@class runner.ChatDeltaNotice
---@field streamId string
---@field seq integer Starts at 0 and grows by one with each delta.
---@field kind 'notice'
---@field notice runner.Notice

---@class runner.ChatDeltaText
---@field streamId string
---@field seq integer Starts at 0 and grows by one with each delta.
---@field kind 'text'|'thinking'
---@field text string

---@class runner.ChatDeltaToolCall
---@field streamId string
---@field seq integer Starts at 0 and grows by one with each delta.
---@field kind 'toolCall'
---@field toolCall runner.ToolCall

---@class runner.ChatDeltaToolResult
---@field streamId string
---@field seq integer Starts at 0 and grows by one with each delta.
---@field kind 'toolResult'
---@field toolResult runner.ToolResult

--- The model that answers when a conversation begins and nobody has named one.
---@class runner.ChatModelResult
---@field model? runner.Model Absent if no model may be picked: none can chat, or all that can chat run elsewhere.
---@field from? 'setting'|'choice'|'loaded'|'newest' Why it was picked: the setting `chatModel`, the user's last choice in any client, or what is available.
---@field missing? string The model that `chatModel` names, if it is not installed or cannot chat.

---@class runner.ChatParams
---@field streamId string Chosen by the client; the deltas of this chat carry it.
---@field model string
---@field messages runner.Message[] The whole conversation, or with `history` its new messages. At least one, except to ask the last prompt again.
---@field tools? runner.Tool[]
---@field hostedTools? 'all'|string[] Names of tool servers whose tools the model may call too. The daemon runs these calls and asks the model again with their results. A call of one of `tools` still ends the turn.
---@field maxRounds? integer With `hostedTools`: rounds of calls; more than `maxToolRounds` are never run. Default: the setting `rounds`.
---@field agent? runner.AgentParams How a model works with the built-in tools.
---@field toolChoice? 'auto'|'none'|'required' `none` leaves the tools out. A server that cannot hold a model to a call treats `required` as `auto`, with a notice.
---@field think? boolean|runner.ThinkLevel Sent only to models with the thinking capability; absent leaves it to the runner.
---@field options? table<string, any> The runner's own options, such as `temperature`.
---@field keepAlive? string|number Seconds, or a duration with a unit such as `10m`. A negative value means for ever.
---@field format? string|table<string, any> `"json"` or a JSON Schema that the answer must follow. The runner holds the model to it; the daemon checks the answer, and the notice `format-not-held` says what is wrong with it.
---@field context? 'leading' `leading` searches the text of the leading user messages for context blocks, which become one system message. It is for a client that receives text in which an editor has joined its blocks and the user's words. `attachments` need no search: they always become part of that system message.
---@field contextTags? string[] Element names of context blocks besides those of `contextTags`.
---@field dropContextTags? boolean The open and close tags of context blocks are not shown, even if the model wrote them. Their content stays.
---@field thinkingFormat? 'separate'|'quote' `quote` puts thinking into the text as a collapsible block quote.
---@field session? string The `id` of a kept conversation. What this turn adds is appended to it when the turn ends.
---@field history? 'kept' With `session`: `kept` sends what the daemon has of the conversation before `messages`, which then has only what is new. A system message in it takes the place of the kept one, and an empty one removes that.
---@field replacesLastTurn? boolean With `session`: the turn takes the place of the last one there, which `messages` does not have any more. It does so once its answer is whole; if the turn fails or is cancelled, the last one stays. With `history` and without a new message, the last prompt is asked again.
---@field server? string A name of `servers`; absent means the server at `host`, whose name is `default`.

--- The whole answer. It is authoritative; the deltas before it are an optimisation.
---@class runner.ChatResult
---@field finishReason runner.FinishReason
---@field message runner.Message With `hostedTools`, the last message.
---@field messages? runner.Message[] With `hostedTools`: every message that the turn added, in order, ready to be sent as history. Every call that the daemon runs has its answer here, even when the turn was cancelled.
---@field usage runner.Usage With several rounds: the prompt tokens of the last round, and the completion tokens of all rounds.
---@field notices runner.Notice[]
---@field agent? runner.AgentResult Only of a turn with the built-in tools.

--- A command that the user lets models run: a list of words that no shell reads.
---@class runner.CheckOptions
---@field command string[] The program and its arguments. The argument `{path}` becomes the path that a call names; a call without a path leaves it out.
---@field timeout? integer In seconds. `timeouts.toolTotal` limits it too.
---@field env? table<string, string> Added to what every tool server inherits.

--- Checks by the absolute path of their project folder, and by their name.
---@alias runner.Checks table<string, table<string, runner.CheckOptions>>

--- What was removed from the prompts of a conversation to save room. It stays out of later ones.
---@class runner.ClearedParts
---@field results string[] The ids of the calls whose results are removed.
---@field rounds string[] The ids of the first calls of rounds that are removed.
---@field answers integer How many answers, from the beginning, have no thinking any more.
---@field turns integer How many turns, from the beginning, are removed.

---@class runner.CompletePromptParams
---@field name string Of the prompt.
---@field argument string The name of the argument.
---@field value string What the user has typed of its value.
---@field values? table<string, string> The other values so far, by name.
---@field cwd? string The absolute path of the workspace; default: the root of the client's `initialize`.

---@class runner.CompletePromptResult
---@field values string[]

---@class runner.CompleteResourceParams
---@field word string

---@class runner.CompleteResourceResult
---@field words runner.ResourceWord[]

---@class runner.CompletionAcceptedParams
---@field id string Identifies one of the daemon's suggestions.

--- Tokens of a window.
---@class runner.ContextLength
---@field allocated? integer What the runner has allocated for the loaded model.
---@field configured? integer What the user or the Modelfile requests.
---@field maximum? integer What the model was made for.
---@field from? runner.FactSource Where the figures were learnt; absent if there is none.

--- What the last turn of a conversation was asked with. A client that continues it sends the same again. It says nothing about approvals.
---@class runner.ConversationSettings
---@field system? string The system message that the client sent.
---@field think? boolean|runner.ThinkLevel Sent only to models with the thinking capability; absent leaves it to the runner.
---@field options? table<string, any> The runner's own options, such as `temperature`.
---@field hostedTools? 'all'|string[] Names of tool servers whose tools the model may call too. The daemon runs these calls and asks the model again with their results. A call of one of `tools` still ends the turn.
---@field maxRounds? integer With `hostedTools`: rounds of calls; more than `maxToolRounds` are never run. Default: the setting `rounds`.

---@class runner.CreateModelParams
---@field path? string The absolute path of a Modelfile; relative paths in it start from its folder.
---@field text? string The text of a Modelfile; it may hold only names and absolute paths.
---@field model string
---@field server? string A name of `servers`; absent means the server at `host`, whose name is `default`.
---@field workDoneToken? runner.ProgressToken Without it the daemon makes a token, if the editor has `window.workDoneProgress`.

---@class runner.CreateModelResult
---@field model string

---@class runner.CreateSessionParams
---@field title? string One line.
---@field cwd? string The absolute path of a folder.
---@field kept? boolean False: it is not written to the disk.

---@class runner.CreateSessionResult
---@field session runner.Session

---@class runner.DeleteModelParams
---@field stop? boolean True stops a running model first; otherwise a running model is the error `busy`.
---@field model string
---@field server? string A name of `servers`; absent means the server at `host`, whose name is `default`.

---@class runner.DiscoverResult
---@field runners runner.FoundRunner[]

--- `text` and `thinking` are appended to what came before. `seq` starts at 0 and grows by one with each delta.
---@alias runner.EditDelta runner.EditDeltaText|runner.EditDeltaNotice

---@class runner.EditDeltaNotice
---@field streamId string
---@field seq integer
---@field kind 'notice'
---@field notice runner.Notice

---@class runner.EditDeltaText
---@field streamId string
---@field seq integer
---@field kind 'text'|'thinking'
---@field text string

---@class runner.EditParams
---@field streamId string Chosen by the client; the deltas of this edit carry it.
---@field model string
---@field instruction string What the user wants, as typed.
---@field text string Whole lines, with or without the line end of the last one. If they are blank, the model writes new lines.
---@field before? string The lines before them and after them, as many as the client likes; the daemon sends the nearest.
---@field after? string
---@field path? string The file, as the model sees it.
---@field language? string The language of the text, such as `lua`.
---@field uris? string[] The addresses of the file, as in an `Attachment`. Of a private file, only `text` is sent.
---@field think? boolean|runner.ThinkLevel As in a chat.
---@field options? table<string, any>
---@field keepAlive? string|number
---@field server? string A name of `servers`; absent means the server at `host`, whose name is `default`.

--- The new lines. They are authoritative; the deltas before them are their beginning.
---@class runner.EditResult
---@field finishReason runner.FinishReason `stop` if the text is whole.
---@field text string With the line ends of the lines to change, also of the last one. If it is empty, nothing is left of the lines.
---@field usage runner.Usage
---@field notices runner.Notice[]

---@class runner.EditsParams
---@field session string The `id` of a kept conversation.
---@field prompt integer How many prompts of the user the conversation has: those of the turn are meant.

--- What the built-in tools have changed in a turn, each file once.
---@class runner.EditsResult
---@field files runner.FileDiff[]
---@field count integer How many edits there were; 0 if the turn has made none.

--- A setting as it counts now.
---@class runner.EffectiveSetting
---@field name string
---@field value any Null if nothing is set and there is no default. It has no secrets: addresses are without user names and passwords, and of a tool server there is only the command or the origin.
---@field from 'default'|'environment'|'file'|'client' Who set it: nobody, the environment, the user's own configuration, or the client.

--- What a tool server wants to know. All texts are the server's: a client makes control characters visible.
---@class runner.ElicitField
---@field name string
---@field title? string What to call it, if the server gives it a better name.
---@field description? string One line.
---@field required boolean
---@field type 'text'|'number'|'integer'|'boolean'|'choice'|'choices' `choice` is one of `options`, `choices` are several.
---@field format? 'email'|'uri'|'date'|'date-time' Of a text.
---@field options? runner.ElicitOption[]
---@field default? runner.ElicitValue

---@class runner.ElicitOption
---@field value string
---@field title string

---@class runner.ElicitParams
---@field streamId string The `streamId` of the chat whose call asks.
---@field server string The name of the tool server, which is always shown.
---@field message string The server's own words.
---@field fields runner.ElicitField[] Without any, the user only agrees or declines.
---@field problem? string What was wrong with the values before; `fields` are then those that are asked again.
---@field warning? string A sentence for the user, such as that the server seems to ask for a secret.
---@field url? string The address that the user is to open: https, or http on this machine. It is shown, and never opened by itself.
---@field host? string The host of `url`.

---@class runner.ElicitResult
---@field action 'accept'|'decline'|'cancel' `decline` says no, `cancel` gives no answer.
---@field content? table<string, runner.ElicitValue> By the names of the fields. Any value may be the text that the user typed; the daemon reads and checks it.

---@alias runner.ElicitValue string|number|boolean|string[]

--- What a way fetches before it starts anything, once the user agrees: by `runner/engine/install` or `…/sample`.
---@class runner.EngineFetch
---@field what 'library'|'sample'
---@field bytes integer Bytes.
---@field description string What the user should know before, in sentences: how much, under which licenses, from where and where to.

---@class runner.EngineInstallResult
---@field folder string

--- A file with weights (GGUF) on this machine.
---@class runner.EngineModel
---@field name string Such as `llama3.2:3b`, or the name of its file without the ending.
---@field path string
---@field size integer Bytes.
---@field fits boolean Whether it fits into the memory, with a small window.
---@field source 'path'|'sample'|'Ollama'|'Hugging Face'|'LM Studio'|'llama.cpp'|'Jan'|'GPT4All' Whose folder it is in.

---@class runner.EngineModelsParams
---@field path? string An absolute path of a file or a folder to look into as well.

---@class runner.EngineModelsResult
---@field models runner.EngineModel[]
---@field isCut? true A folder had more than the search looks at.

---@class runner.EngineOffers
---@field programs runner.InstalledProgram[]
---@field library runner.Fetchable The library that runs models.
---@field sample runner.Fetchable The small model.
---@field ways runner.EngineWay[] What to offer to a user who has no runner, the most capable one first; at most one of each product.

--- What Runner can start: its own engine, or a program that the user has installed.
---@alias runner.EngineProduct 'runner-engine'|'llama.cpp'|'ollama'

---@class runner.EngineRemoveResult
---@field wasThere boolean

---@class runner.EngineSampleResult
---@field path string

---@class runner.EngineSettings
---@field keepRunning? boolean True: it goes on running after the last program that uses it, until `runner/engine/stop`.

---@class runner.EngineStartParams
---@field product? runner.EngineProduct Absent: the engine if it is installed, or else llama-server.
---@field model? string The absolute path of a file, or a name of `runner/engine/models`. Absent: the last one, or else the sample.
---@field context? integer Tokens of the window.
---@field threads? integer
---@field keep? boolean True: it runs until `runner/engine/stop`. Otherwise as long as a daemon uses it.
---@field workDoneToken? runner.ProgressToken Without it the daemon makes a token, if the editor has `window.workDoneProgress`.

--- What was started here; there is at most one for a user.
---@class runner.EngineStatus
---@field state 'running'|'stopped'|'down' `down`: it ended by itself, and was not started again.
---@field message string A sentence for the user.
---@field product? runner.EngineProduct
---@field url? string
---@field model? string The name under which it has its model. Absent for Ollama.
---@field context? integer Tokens of its window, if it said so.
---@field isInstalled boolean Whether the library of the engine is installed.
---@field sample? string The path of the sample, if that was fetched.

---@class runner.EngineStopResult
---@field wasRunning boolean

--- One way to a model that answers.
---@class runner.EngineWay
---@field label string For a list, such as `start Ollama 0.31.4, which is installed`.
---@field fetches runner.EngineFetch[] In this order. Empty: everything is there.
---@field warning? string What the user should know about the model, as a sentence.
---@field start runner.EngineWayStart Parameters of `runner/engine/start`.

---@class runner.EngineWayStart
---@field product runner.EngineProduct
---@field model? string

--- The `data` of every error whose code is in `errorCodes`.
---@class runner.ErrorData
---@field kind runner.ErrorKind
---@field retryable boolean
---@field advice? runner.Advice What can be done about it, if the message ends in that.
---@field server? string The name of the server that was asked.
---@field model? string
---@field capability? string With `not-supported`: what the model cannot do.
---@field partial? any The part of a chat's answer that arrived before it failed: a `Message`.
---@field messages? any[] With `hostedTools`: all `Message`s that the turn had added, including what had arrived of the last one.
---@field signinUrl? string With `unauthorized`: where to sign in, if the runner named an address.
---@field retryAfter? integer With `busy`: seconds to wait, if the runner named them.
---@field needed? integer With `context-exceeded`: the estimated tokens of the prompt.
---@field allocated? integer With `context-exceeded`: the tokens of the window.
---@field maximum? integer With `context-exceeded`: the tokens of the largest window that the model can have.
---@field outOfMemory? true With `runner-failed`: the model did not fit into what is left of the memory.
---@field diagnostics? any[] With `invalid-modelfile`.

--- The stable names of what can go wrong, the same on the wire and in the terminal's `--json`.
--- - `server-unreachable`: No connection, refused, DNS, TLS, or the connection was lost before any answer.
--- - `timeout`: One of the daemon's own time limits ran out.
--- - `unauthorized`: The runner answered 401 or 403.
--- - `model-not-found`: The runner answered 404 with a JSON error that names a model.
--- - `not-supported`: The model cannot do what was asked, or the runner does not have the route.
--- - `context-exceeded`: The prompt is longer than the window.
--- - `busy`: 503, 429, or a running model is in the way.
--- - `bad-response`: HTML, invalid JSON, a wrong shape, too large, a redirect, or a stream that ends without `done`.
--- - `runner-failed`: The runner itself failed: 5xx or an error line.
--- - `invalid-modelfile`: The Modelfile has mistakes; `data.diagnostics` says where.
--- - `invalid-request`: The runner refused the request: any other 4xx.
---@alias runner.ErrorKind 'server-unreachable'|'timeout'|'unauthorized'|'model-not-found'|'not-supported'|'context-exceeded'|'busy'|'bad-response'|'runner-failed'|'invalid-modelfile'|'invalid-request'

--- Where a fact about a model was learnt. `observed`: from what the model did or refused in this session. `assumed`: nobody said it, and it is what such a server usually does.
---@alias runner.FactSource 'server'|'observed'|'name'|'configured'|'assumed'

---@class runner.FetchFileParams
---@field url string

---@class runner.FetchFileResult
---@field file runner.FoundFile

--- Something that can be fetched, once the user agrees.
---@class runner.Fetchable
---@field isThere boolean
---@field bytes integer Bytes.
---@field from string From where, such as `the npm registry https://registry.npmjs.org/`.
---@field licenses string Such as `MIT (98), ISC (13)`.
---@field packages integer How many packages.
---@field folder string Where it goes.
---@field problem? string Why it cannot be fetched here, and what else there is.

--- The change of a text file. The texts come from files and models: a client makes control characters visible.
---@class runner.FileDiff
---@field path string The absolute path of the file.
---@field name string The path below the folder of the workspace, with slashes.
---@field before? string Absent: the file is new. Line ends are those of the file.
---@field after string
---@field unified string The hunks of the unified format, with three lines of context, without the lines that name the files.

---@class runner.FindFilesParams
---@field text string What the user typed, as typed. Each word that begins with `@` may name files.
---@field cwd string The absolute path of the folder to which the names are relative.

---@class runner.FindFilesResult
---@field mentions runner.FoundMention[]

---@class runner.FinishLoginParams
---@field server string
---@field redirectedTo? string The whole address to which the browser was redirected, if the browser runs on another machine and cannot reach the daemon. Without it the daemon waits for the browser.

---@class runner.FinishLoginResult
---@field scope? string What the login allows, in the words of the server, if it says so.

--- `toolLimit`: the rounds of calls were used up, so the model answered without tools. `toolLoop`: it did so because its calls went round in circles.
---@alias runner.FinishReason 'stop'|'length'|'toolCalls'|'toolLimit'|'toolLoop'|'cancelled'

---@class runner.ForkSessionParams
---@field turns? integer How many of the user's prompts the new conversation begins with, each with what follows it. Without it, all.
---@field id string

--- A file that the text names, a page that was fetched, or a resource of a tool server.
---@class runner.FoundFile
---@field path string Of a resource: as in the text, such as `team:memo://1`.
---@field bytes integer
---@field tokens integer Estimated.
---@field privacy? 'secret'|'excluded' It looks like a secret, or `exclude` names it. The client asks before it sends such a file.
---@field attachment? runner.Attachment Its text, ready for the `attachments` of a message. Absent if it is a picture.
---@field image? string A picture as base64, ready for the `images` of a message.

--- A word that names something. The text itself stays as it is.
---@class runner.FoundMention
---@field word string As typed, with the `@`.
---@field files runner.FoundFile[]
---@field url? string The address that the word is. Nothing is fetched before the client asks for it.
---@field notes string[] Sentences for the user: what was left out, or why the word names nothing.

--- A runner that the user has not named.
---@class runner.FoundRunner
---@field url string
---@field product runner.Product
---@field models? integer Absent if it wants a token.

---@class runner.GetPromptParams
---@field name string
---@field text? string What the user typed behind the name. It fills the arguments.
---@field values? table<string, string> Values of arguments, by name. They come before what `text` says.
---@field cwd? string The absolute path of the workspace; default: the root of the client's `initialize`.

--- - `{
---       readonly kind: 'missing';
---       readonly missing: readonly PromptArgument[];
---       /** The values that `text` gave. */
---       readonly values: Readonly<Record<string, string>>;
---       readonly message: string;
---     }`: Required arguments have no value. `message` says so; a client that can asks for them and sends `values`.
--- - `{ readonly kind: 'unasked'; readonly folder: PromptFolder; readonly message: string }`: It is in a folder that the user has not been asked about; then `runner/prompts/allow`.
--- - `{ readonly kind: 'unusable'; readonly message: string }`: It cannot be used, and why.
--- - `{
---       readonly kind: 'none';
---       /** Names that are near, best first. */
---       readonly near: readonly string[];
---     }`: There is no such prompt.
---@alias runner.GetPromptResult runner.GetPromptResultPrompt|runner.GetPromptResultMissing|runner.GetPromptResultUnasked|runner.GetPromptResultUnusable|runner.GetPromptResultNone

---@class runner.GetPromptResultMissing
---@field kind 'missing'
---@field missing runner.PromptArgument[]
---@field values table<string, string> The values that `text` gave.
---@field message string

---@class runner.GetPromptResultNone
---@field kind 'none'
---@field near string[] Names that are near, best first.

---@class runner.GetPromptResultPrompt
---@field kind 'prompt'
---@field name string
---@field text string The whole text. Nothing in it is looked up: no path, no address, no placeholder in a value.
---@field images? string[] Base64, for the `images` of the message. Only a prompt of a tool server has them.
---@field model? string
---@field tools? string[] For `hostedTools`.

---@class runner.GetPromptResultUnasked
---@field kind 'unasked'
---@field folder runner.PromptFolder
---@field message string

---@class runner.GetPromptResultUnusable
---@field kind 'unusable'
---@field message string

--- A tool server (MCP) at an address, over Streamable HTTP.
---@class runner.HttpToolServer
---@field type? 'http'
---@field url string
---@field headers? table<string, string> Sent only to the origin of the address. The values appear in no log and no error.
---@field clientId? string Our client id at its authorization server, if that server does not register clients itself.
---@field disabled? boolean
---@field enabled? boolean

--- What `initializationOptions` hold besides the settings.
---@class runner.InitializationOptions
---@field trusted? boolean False for a workspace that the user does not trust. Its settings can then change only what is harmless.
---@field sendsUserSettings? boolean True: while the workspace is not trusted, this client sends only the user's own settings and leaves out those of the workspace. They then take effect at once.
---@field refusedTools? runner.ToolRefusal[] What an earlier daemon of the same session sent with `runner/tools/didRefuse`.
---@field approvals? runner.Approvals Tools that run without a question. The settings have no such key, because a workspace may write settings.
---@field builtinTools? boolean True: models may be offered the built-in tools, which read and edit files of the workspace. The settings have no such key, because a workspace may write settings.
---@field checks? runner.Checks Commands that models may run. The settings have no such key, because a workspace may write settings.
---@field rounds? integer Rounds of tool calls in one turn.
---@field agentContext? integer Tokens of the window to request for a turn with the built-in tools if nobody has chosen one.
---@field projectRules? boolean False: models with the built-in tools get no rules from files.
---@field host? string Default: `OLLAMA_HOST`, else `defaultHost`.
---@field api? runner.RunnerApi Which API the runner at `host` speaks.
---@field servers? runner.ServerOptions[]
---@field chatModel? string The model that answers in a chat if nobody chooses another one.
---@field completionModel? string The model of inline completion.
---@field streamLogs? boolean True lets the daemon start the server logs after `initialized`.
---@field logLevel? runner.LogLevel
---@field cacheDir? string An absolute path of a folder for what may be kept between runs.
---@field modelfilesPath? string
---@field keepAlive? string|number How long a model stays loaded after an answer: seconds, or a duration such as `10m`. A negative value means for ever.
---@field contextLength? integer Tokens of the window (`num_ctx`) to request; 0 leaves it to the runner.
---@field modelCapabilities? table<string, runner.ModelOverride> By the names of models. A name without a tag stands for all its tags; one with a tag counts before it.
---@field catalogUrl? string Base address of the public catalog.
---@field exclude? string[] Globs of files that are never sent. Files that look like secrets are never sent either.
---@field caFile? string For the server at `host`; every other server has its own.
---@field timeouts? runner.Timeouts
---@field keepSessions? boolean False: no conversation is written to the disk or listed.
---@field sessionDays? integer A conversation is deleted after this many days without a turn.
---@field engine? runner.EngineSettings For what Runner starts on this machine.
---@field mcpServers? runner.ToolServers Tool servers. They override those of `initializationOptions` with the same name. A wrong entry does not affect the others.

---@class runner.InlineCompletionItem
---@field insertText string
---@field range runner.TextRange Starts at the cursor. It is empty, or covers closers that `insertText` repeats. If an item of the editor's list is selected, it starts where that item's range starts.
---@field command runner.InlineCompletionItemCommand `completionAcceptedCommand`.

---@class runner.InlineCompletionItemCommand
---@field title string
---@field command string
---@field arguments runner.CompletionAcceptedParams[]

---@class runner.InlineCompletionList
---@field items runner.InlineCompletionItem[]

--- The part of LSP's `InlineCompletionParams` that the daemon reads.
---@class runner.InlineCompletionParams
---@field context? runner.InlineCompletionParamsContext
---@field textDocument runner.InlineCompletionParamsTextDocument
---@field position runner.TextPosition

---@class runner.InlineCompletionParamsContext
---@field triggerKind integer 1: the user asked for it. 2: the editor asked while the user typed.
---@field selectedCompletionInfo? runner.SelectedCompletionInfo The suggestion continues this text and replaces its range.

---@class runner.InlineCompletionParamsTextDocument
---@field uri string

--- A program on this machine that is installed and can be started. It said itself what it is.
---@class runner.InstalledProgram
---@field product 'llama.cpp'|'ollama'
---@field path string
---@field version string

--- The `data` of a `-32602` (invalid params) answer.
---@class runner.InvalidParamsData
---@field path string What is wrong, such as `messages[0].role`.
---@field problem string Why it is wrong, in words that follow a colon.

---@class runner.ListChecksResult
---@field checks runner.ListedCheck[]

---@class runner.ListModelsParams
---@field refresh? boolean True asks the runner even if the daemon has a fresh list.
---@field examine? boolean True examines each model that may chat if its tool support is not known yet, up to 100 models.
---@field everywhere? boolean True lists the models of all servers. A model of another server than the one at `host` has a name such as `box/qwen3:8b`, by which every request without a `server` finds it.
---@field server? string A name of `servers`; absent means the server at `host`, whose name is `default`.

---@class runner.ListModelsResult
---@field models runner.Model[]
---@field stale? true The server is down, and this is the last known list.
---@field leftOut? integer The number of models beyond the first 10,000, which a list is limited to.
---@field problems? runner.ListModelsResultProblemsItem[] With `everywhere`: the servers whose models are missing, with a sentence each.

---@class runner.ListModelsResultProblemsItem
---@field server string
---@field message string

---@class runner.ListPromptsParams
---@field commands? string[] Names of the client's own commands, which come before all prompts.
---@field wait? boolean Waits for tool servers that are not ready, up to 15 s. By default they are started, and waited for a moment; what comes later is in the next list.
---@field cwd? string The absolute path of the workspace; default: the root of the client's `initialize`.

---@class runner.ListPromptsResult
---@field prompts runner.Prompt[] In the order of their names; of several with one name, the one that counts comes first.
---@field folder? runner.PromptFolder Present if the workspace has such a folder with prompts.
---@field problems string[] What is wrong beside single prompts, each a sentence.

---@class runner.ListSessionsParams
---@field query? string All of its words must occur in the title or in the messages, in upper or lower case.
---@field cwd? string Lists only conversations that were started in this folder.
---@field limit? integer
---@field cursor? string The `nextCursor` of the previous page.

---@class runner.ListSessionsResult
---@field sessions runner.Session[] Newest first.
---@field nextCursor? string Present if there are more.

---@class runner.ListSettingsResult
---@field path string The path of the user's own configuration, which may not exist.
---@field settings runner.EffectiveSetting[] In the order of docs/PROTOCOL.md. Those that only clients set are left out.

---@class runner.ListToolsParams
---@field servers? string[] Names of tool servers. Absent means all of them.

---@class runner.ListToolsResult
---@field servers runner.ListedToolServer[] In the order of the entries.

--- A check of the project folder as it counts now.
---@class runner.ListedCheck
---@field name string
---@field folder string
---@field command string[]

---@class runner.ListedTool
---@field name string The server's own name for the tool; the model may see another name.
---@field title? string
---@field description string What it does.
---@field inputSchema table<string, any> A JSON Schema of an object.
---@field annotations? runner.ToolAnnotations

---@class runner.ListedToolServer
---@field name string
---@field state 'ready'|'failed'|'disabled'
---@field message? string Why it failed, and what to do.
---@field advice? runner.Advice What can be done about it, if the message ends in that.
---@field needsLogin? boolean It failed because nobody is logged in: `runner/tools/login`, which is `runner mcp login NAME` in a terminal.
---@field tools runner.ListedTool[]

---@class runner.LoadingState
---@field percent? number Absent if the server does not say it.

---@alias runner.LogLevel 'debug'|'info'|'warn'|'error'

---@class runner.LogParams
---@field level runner.LogLevel
---@field source 'daemon'|'server'
---@field message string
---@field code? 'configuration'|'setting'|'token'|'tool-server' What a client may show beside its log: the user's configuration file is wrong, a changed setting is wrong, a token is not sent, or a tool server takes long to start.
---@field refused? runner.InvalidParamsData With `setting`: the setting, and why it stays as it was.

---@class runner.LoginParams
---@field server string The name of a tool server at an address.

---@class runner.LoginResult
---@field url string The address that the user's browser must open: https, or http on this machine.
---@field redirectUrl string The address to which the browser is redirected at the end. The daemon listens there until the login ends.

---@class runner.LogoutResult
---@field wasLoggedIn boolean
---@field isRevoked boolean Whether the authorization server confirmed the revocation.

---@class runner.Message
---@field role runner.Role
---@field content string In a user message: what the user typed, if the client can separate that from what it attaches.
---@field attachments? runner.Attachment[] In a user message: what the client attached. It is context, not something that the user wrote.
---@field images? string[] Base64, without a `data:` prefix.
---@field thinking? string
---@field toolCalls? runner.ToolCall[] Only in an assistant message.
---@field toolCallId? string In a tool message: the `id` of the call that it answers.
---@field toolName? string In a tool message: the name of the tool that answered.

---@class runner.Model
---@field name string With its tag, such as `qwen3:8b`. Where models of all servers are listed, also such as `box/qwen3:8b`.
---@field server string
---@field size? integer Bytes on disk.
---@field digest? string 64 hexadecimal digits.
---@field modifiedAt? string
---@field family string The daemon's own grouping, by the prefix of the name.
---@field details? runner.ModelDetails
---@field capabilities runner.ModelCapabilities
---@field context runner.ContextLength
---@field remote? runner.ModelRemote Set for a model whose requests the runner forwards to another host.
---@field running? runner.RunningState
---@field thinkingLevels? false False if it can be told whether to think, but not how much: it has refused a level.
---@field loading? runner.LoadingState Set while the server loads the model, as far as the server says so.

---@class runner.ModelCapabilities
---@field thinking runner.Capability
---@field completion runner.Capability
---@field tools runner.Capability
---@field vision runner.Capability
---@field insert runner.Capability
---@field embedding runner.Capability

---@class runner.ModelDetails
---@field family string The server's own family, such as `qwen2`.
---@field parameterSize string Such as `3.1B`.
---@field quantization string Such as `Q4_K_M`.

--- What the user says that a model can do or cannot do. What is absent is learnt as usual.
---@class runner.ModelOverride
---@field tools? boolean
---@field vision? boolean
---@field thinking? boolean
---@field insert? boolean

---@class runner.ModelParams
---@field model string
---@field server? string A name of `servers`; absent means the server at `host`, whose name is `default`.

---@class runner.ModelRemote
---@field host string
---@field model string

---@class runner.ModelfileCommand
---@field command string In lower case, such as `parameter`.
---@field args string[]
---@field range runner.TextRange

---@class runner.ModelfileDiagnostic
---@field range runner.TextRange
---@field message string
---@field severity 1|2|3|4 As in LSP: 1 error, 2 warning, 3 information, 4 hint.

---@class runner.Notice
---@field code runner.NoticeCode
---@field message string A sentence for the user.
---@field advice? runner.Advice

--- - `tools-disabled`: The model does not support tools. They are left out now and for the rest of the session.
--- - `tool-choice-ignored`: `toolChoice: "required"` was treated as `auto`, because the server knows no other way.
--- - `images-dropped`: The model cannot see images, so they were left out.
--- - `context-nearly-full`: The prompt fills at least 90 % of the window.
--- - `context-exceeded`: The answer was cut because the window is full.
--- - `context-reduced`: The request asked for a larger window than the model can have.
--- - `window-asked`: The model is asked for a larger window than it has by itself, because built-in tools need room.
--- - `window-small`: The window is small for work with the built-in tools.
--- - `rules-cut`: The rules of the project or of the user do not fit into their share of the window, or cannot be read.
--- - `rules-untrusted`: The rules of the project are left out, because the workspace is not trusted.
--- - `tools-too-large`: The tools take more than a quarter of the window.
--- - `results-removed`: Old results of tools were removed from the prompt, because there was no room for them.
--- - `edit-forgiven`: An edit was made although its model copied the old text badly.
--- - `answer-loops`: The model repeated a text without end, so its answer was stopped.
--- - `thinking-unsupported`: The request asked for thinking, but the model has no thinking mode.
--- - `tool-call-recovered`: A tool call that the model wrote as text was taken as a call.
--- - `tool-call-malformed`: A tool call that the model wrote as text, or at the end of its thinking, does not count. It stays there.
--- - `tool-schemas-simplified`: The server refused the schemas of these tools, so the model got simpler ones.
--- - `tools-unavailable`: Tool servers that did not start were left out of the turn.
--- - `waiting-for-slot`: All slots of the server are busy, so the answer begins when another one has ended.
--- - `model-loading`: The model is being loaded; the answer follows.
--- - `format-not-held`: The answer is not in the `format` of the request: no JSON, cut, or not as the schema says.
--- - `edit-without-block`: Only of an edit: the model marked no lines as the new ones, so its whole answer is taken.
--- - `history-missing`: The conversation has turns of which the client has sent none, so the model has not seen them.
--- - `answer-lost`: The runner counted tokens but sent nothing: what the model said was lost in the runner.
--- - `answer-empty`: The model has stopped without an answer, perhaps after it had thought.
--- - `private-files-left-out`: The client had added private files by itself: files that look like secrets or are excluded. Only names are sent.
--- - `private-files-sent`: The user attached private files. They are sent.
--- - `session-not-kept`: The turn could not be appended to its conversation on the disk.
---@alias runner.NoticeCode 'tools-disabled'|'tool-choice-ignored'|'images-dropped'|'context-nearly-full'|'context-exceeded'|'context-reduced'|'window-asked'|'window-small'|'rules-cut'|'rules-untrusted'|'tools-too-large'|'results-removed'|'edit-forgiven'|'answer-loops'|'thinking-unsupported'|'tool-call-recovered'|'tool-call-malformed'|'tool-schemas-simplified'|'tools-unavailable'|'waiting-for-slot'|'model-loading'|'format-not-held'|'edit-without-block'|'history-missing'|'answer-lost'|'answer-empty'|'private-files-left-out'|'private-files-sent'|'session-not-kept'

---@alias runner.ParameterValue string|number|boolean

---@class runner.ParseModelfileParams
---@field text string

---@class runner.ParseModelfileResult
---@field commands runner.ModelfileCommand[]
---@field diagnostics runner.ModelfileDiagnostic[]

--- One part of some work: a layer that is downloaded, or a file that is hashed and uploaded.
---@class runner.PartProgress
---@field name string The first twelve digits of a layer's digest, or the name of a file.
---@field completed integer Bytes. It may fall when the runner starts a layer again.
---@field total integer Bytes.

--- As it would stand in `catalogUrl`.
---@class runner.ProbeCatalogParams
---@field url string

---@class runner.ProbeParams
---@field url string As the user typed it, in any form that `OLLAMA_HOST` may have.
---@field server? string A name of `servers`; absent means the server at `host`, whose name is `default`.

---@class runner.ProbeResult
---@field version string Empty if the runner has none.
---@field product runner.Product

--- The programs that can run models, as far as they differ for a user.
---@alias runner.Product 'ollama'|'llama.cpp'|'lmstudio'|'vllm'|'other'

---@class runner.ProgressParams
---@field token runner.ProgressToken
---@field value runner.WorkProgress

--- LSP's token of work-done progress.
---@alias runner.ProgressToken string|number

--- A prompt that the user or a workspace keeps under a name, or that a tool server (MCP) offers.
---@class runner.Prompt
---@field name string What is typed behind the slash, such as `review`; of a tool server, its name comes before: `git:review`.
---@field description string One line; may be empty.
---@field from 'user'|'workspace'|'server'
---@field server? string The name of the tool server, as it is entered.
---@field path? string The absolute path of its file.
---@field arguments runner.PromptArgument[]
---@field model? string The model that answers it. Only a prompt of the user has one.
---@field tools? string[] Names of the tool servers whose tools the model may call for it. Only a prompt of the user has them.
---@field problem? string Why it cannot be used, and what to do.
---@field line? integer Where the problem is in the file, counted from 1.
---@field hiddenBy? 'command'|'prompt' Its name leads elsewhere: to a command of the client, or to a prompt that comes before it.

---@class runner.PromptArgument
---@field name string One word. In a file it is a letter, and then letters, digits, `_` or `-`, and stands in the text as `{{name}}`.
---@field description? string
---@field required? boolean Absent or false: without a value, nothing stands in its place.

--- The `.runner/prompts` of a workspace. Its prompts count only once the user has allowed them, and while the workspace is trusted.
---@class runner.PromptFolder
---@field path string Its absolute path.
---@field state 'unasked'|'allowed'|'refused'|'untrusted'
---@field files integer How many prompts it has.

---@class runner.PullModelParams
---@field model string
---@field server? string A name of `servers`; absent means the server at `host`, whose name is `default`.
---@field workDoneToken? runner.ProgressToken Without it the daemon makes a token, if the editor has `window.workDoneProgress`.

---@class runner.PullModelResult
---@field model string

---@class runner.ReadSessionParams
---@field open? boolean True if the conversation is to be continued. If another process has it open, the answer is the error `busy` at once.
---@field id string

---@class runner.ReadSessionResult
---@field session runner.Session
---@field messages runner.SessionMessage[]
---@field settings? runner.ConversationSettings Absent if no turn had any, and in conversations of earlier versions.
---@field cleared? runner.ClearedParts What was removed from its prompts to save room. The messages are all there.

---@class runner.RedoEditsParams
---@field session string The `id` of a kept conversation.

--- A resource of a tool server, or the beginning of some, as it is typed.
---@class runner.ResourceWord
---@field word string Without the `@`, such as `team:` or `team:memo://1`.
---@field description? string One line.

---@class runner.RestoredEdits
---@field restored string[] The names of the files.
---@field left runner.RestoredEditsLeftItem[] Files that are not as the edits left them, and stay. `reason` is a sentence.

---@class runner.RestoredEditsLeftItem
---@field name string
---@field reason string

---@alias runner.Role 'system'|'user'|'assistant'|'tool'

---@class runner.RunModelParams
---@field keepAlive? string|number
---@field model string
---@field server? string A name of `servers`; absent means the server at `host`, whose name is `default`.

---@class runner.RunModelResult
---@field model runner.Model

--- Which API a runner speaks. `auto` asks it, and asks again after its connection was lost.
---@alias runner.RunnerApi 'auto'|'ollama'|'openai'

--- What `runnerd` adds to the `initialize` result under `capabilities.experimental.runner`.
---@class runner.RunnerCapabilities
---@field protocolVersion integer
---@field isHostNamed? boolean True if an option, the environment or the user's configuration names the runner's address; otherwise the default address is used.
---@field toolServers? string[] Names of the tool servers in the user's own configuration, in their order, without the disabled ones. Empty if the client has settings of its own.

---@class runner.RunningModelsResult
---@field models runner.Model[]

---@class runner.RunningState
---@field expiresAt string
---@field size integer Bytes of memory.
---@field sizeVram integer The part of it on the GPU, in bytes.

---@class runner.SearchFilesParams
---@field text string The user's question. Its words are looked for, but not those that every question has.
---@field cwd string The absolute path of the folder whose files are searched.
---@field tokens integer The most tokens that the excerpts may have together, estimated.

---@class runner.SearchFilesResult
---@field files runner.FoundFile[] Excerpts, best first. Their attachments have `lines`, and are `automatic`.
---@field notes string[] Sentences for the user: what was not searched.

--- One line of the newline-delimited JSON on the descriptor of `runnerd --secrets-fd N`. A later line for an origin replaces an earlier one. A secret is sent to its own origin only. Over plain http it is sent only to loopback, or to a runner if `allowPlainHttp` is true.
---@class runner.SecretLine
---@field origin string Scheme, host and port, such as `https://models.example.org:8443`.
---@field secret string|nil Sent as `Authorization: Bearer …`, or as `Basic …` if it has the form `user:password` and the server asks for that; `null` forgets it.
---@field headers? table<string, string> More headers for this origin.
---@field allowPlainHttp? boolean The user has allowed that a runner at this origin gets the secret over plain http.

--- As in LSP: the item that is selected in the editor's own list of completions, and what it would replace.
---@class runner.SelectedCompletionInfo
---@field range runner.TextRange
---@field text string

--- A runner besides the one at `host`.
---@class runner.ServerOptions
---@field name string Unique. The name `default` belongs to the server at `host`.
---@field url string Scheme, host, port and an optional path prefix.
---@field caFile? string An absolute path to a PEM file with certificates to trust for this server.
---@field api? runner.RunnerApi Which API it speaks.

--- What every request about a runner takes in addition to its own parameters.
---@class runner.ServerParams
---@field server? string A name of `servers`; absent means the server at `host`, whose name is `default`.

--- A configured server and its status.
---@class runner.ServerStatus
---@field name string
---@field url string Its base address.
---@field status runner.Status Of a server that does not answer in time: `offline`.

---@class runner.ServersResult
---@field servers runner.ServerStatus[]

--- A conversation that is kept in the user's state folder.
---@class runner.Session
---@field id string Eight digits, a hyphen, and eight letters or digits.
---@field title string The title that was set, else the first line of the first prompt, at most 60 characters. Empty before the first prompt.
---@field cwd? string The absolute path of the folder in which it was started.
---@field model? string The model that was asked last.
---@field createdAt string
---@field updatedAt string
---@field turns integer How many prompts of the user it holds.
---@field kept? false False if it is not on the disk: its messages are in the daemon's memory, until it is closed.

--- A message as it is kept. The added fields are ignored when it is sent as history in the `messages` of a chat.
---@class runner.SessionMessage
---@field at? string When it was written.
---@field model? string In an answer: the model that gave it.
---@field partial? 'cancelled'|'failed' In an incomplete answer: it was cancelled, or it failed.
---@field role runner.Role
---@field content string In a user message: what the user typed, if the client can separate that from what it attaches.
---@field attachments? runner.Attachment[] In a user message: what the client attached. It is context, not something that the user wrote.
---@field images? string[] Base64, without a `data:` prefix.
---@field thinking? string
---@field toolCalls? runner.ToolCall[] Only in an assistant message.
---@field toolCallId? string In a tool message: the `id` of the call that it answers.
---@field toolName? string In a tool message: the name of the tool that answered.

---@class runner.SessionParams
---@field id string

---@class runner.SetHostParams
---@field url string As the user typed it, in any form that `OLLAMA_HOST` may have.

---@class runner.SetHostResult
---@field path string

---@class runner.SetModeParams
---@field streamId string
---@field mode runner.AgentMode

---@class runner.ShowModelResult
---@field model runner.Model
---@field template? string
---@field parameters? table<string, string|number|runner.ParameterValue[]|boolean> By name: a value, or an array if the parameter is repeated.
---@field system? string
---@field license? string
---@field modelfile? string

---@class runner.StartLogsResult
---@field source string The path or the command that the lines come from.

---@class runner.Status
---@field state 'checking'|'online'|'busy'|'offline'
---@field kind 'ok'|'warning'|'error'
---@field message string A sentence for the user.
---@field version? string The runner's version, if known.
---@field product? runner.Product What answers there; absent as long as nothing has.
---@field can? runner.Ability[]
---@field command? runner.StatusCommand The command that would solve the problem.
---@field advice? runner.Advice

---@class runner.StatusCommand
---@field title string
---@field command string
---@field arguments? any[]

--- A tool server (MCP) that the daemon starts. They communicate over the server's standard input and output.
---@class runner.StdioToolServer
---@field command string
---@field args? string[]
---@field env? table<string, string> Added to what every server inherits. The values appear in no log and no error.
---@field cwd? string Default: the workspace's root, else `HOME`.
---@field disabled? boolean
---@field enabled? boolean

---@class runner.SuggestChecksResult
---@field suggestions runner.SuggestedCheck[]

--- What a file of the project suggests.
---@class runner.SuggestedCheck
---@field file string The name of the file, in the folder.
---@field hash string Of the whole file: with another content it is another suggestion.
---@field name string
---@field folder string
---@field command string[]

--- As in LSP: both count from 0, characters in UTF-16 code units.
---@class runner.TextPosition
---@field line integer
---@field character integer

---@class runner.TextRange
---@field start runner.TextPosition
---@field end runner.TextPosition

---@alias runner.ThinkLevel 'low'|'medium'|'high'|'max'

--- Time limits in milliseconds; 0 means no limit.
---@class runner.Timeouts
---@field connect? integer To open a connection.
---@field list? integer For a whole short answer such as a list.
---@field firstByte? integer Until a chat's first byte, which leaves time to load a model.
---@field idle? integer Between two reads of a stream.
---@field tool? integer For a call that the daemon runs, as long as it reports no progress.
---@field toolTotal? integer For such a call in total.
---@field toolStart? integer For the start of a tool server. It goes on after that, and is there for the next turn.

---@class runner.Tool
---@field name string
---@field description string
---@field inputSchema table<string, any> A JSON Schema of an object.

--- What a server says about a tool. It is shown but decides nothing, because the server may say anything.
---@class runner.ToolAnnotations
---@field title? string
---@field readOnlyHint? boolean
---@field destructiveHint? boolean
---@field idempotentHint? boolean
---@field openWorldHint? boolean

---@class runner.ToolCall
---@field id string
---@field name string
---@field arguments table<string, any>

--- What a client announces about itself as `capabilities.experimental.runner`.
---@class runner.ToolCapabilities
---@field protocolVersion? integer The version of this protocol that the client needs. A daemon that does not speak it refuses `initialize`.
---@field approvesTools? boolean The client answers `runner/tools/approve`. Otherwise the daemon runs only what `approvals` allow.
---@field elicits? boolean The client answers `runner/tools/elicit`. Otherwise no tool server is told that it can ask the user.
---@field showsDiffs? boolean The client shows `diff` with its question. Otherwise no model is offered the built-in tool that edits files.
---@field decisions? ('answer'|'stop')[] Which of the later decisions the client can give.
---@field folder? string An absolute path: the folder that the built-in tools use if the client has no workspace, as in a terminal.

--- `session` applies until the daemon ends, `always` until the tool's description or schema changes. `answer` applies to all edits of this chat. `stop` denies the call and ends the chat as cancelled. The last two are offered only for edits, and only to a client whose `ToolCapabilities.decisions` name them.
---@alias runner.ToolDecision 'once'|'session'|'always'|'answer'|'deny'|'stop'

---@class runner.ToolProgress
---@field streamId string The `streamId` of the chat.
---@field id string The `id` of the call.
---@field progress number Grows with each report.
---@field total? number What `progress` reaches at the end, if the server knows it.
---@field message? string What the server is doing.

--- A model that refused tools. It gets no tools for the rest of the editor's session.
---@class runner.ToolRefusal
---@field url string The address of its server.
---@field model string
---@field digest? string The model's digest at the time. With another digest it is another model, and the refusal is forgotten.

---@class runner.ToolRefusals
---@field refusals runner.ToolRefusal[]

--- The outcome of a call that the daemon ran or refused, as the model reads it.
---@class runner.ToolResult
---@field id string The `id` of the call.
---@field name string The name by which the model knows the tool.
---@field server string The tool's server; empty if no tool of a tool server has this name.
---@field content string At most 32,000 characters.
---@field isError boolean The call failed, was denied, or had arguments that the tool does not take. The content says why.
---@field output? string How a check ended and what it has written, if the content has only a part of that: about 256 Ki characters at most, without escape sequences, overwritten lines and repeats.
---@field diff? runner.FileDiff What the call has changed, if nobody was asked about it. Only a client with `showsDiffs` gets it.
---@field images? string[] Base64. In the content, `[image, …]` stands for each of them.
---@field unapprovedTool? string The server's own name of the tool, if the call was not run because `approvals` do not allow it and nobody could be asked.

--- Tool servers by name.
---@alias runner.ToolServers table<string, runner.StdioToolServer|runner.HttpToolServer>

---@class runner.TrustParams
---@field trusted boolean

---@class runner.UndoTurnResult
---@field session runner.Session
---@field prompt? runner.Message The prompt that was taken out, with what was attached to it. Absent if there was no turn.

---@class runner.UpdateSessionParams
---@field title string One line.
---@field id string

---@class runner.UpdateSessionResult
---@field session runner.Session

--- Tokens as the runner counted them; 0 if it gave no count.
---@class runner.Usage
---@field promptTokens integer
---@field completionTokens integer
---@field contextLength? integer Tokens of the allocated window, if known.

--- Parameters of a request that reports work-done progress.
---@class runner.WorkDoneParams
---@field workDoneToken? runner.ProgressToken Without it the daemon makes a token, if the editor has `window.workDoneProgress`.

---@class runner.WorkEnd
---@field kind 'end'
---@field message? string

--- The values of work-done progress as in LSP, plus what a client needs to draw more than one bar. There are at most ten reports a second. Each holds the whole current state, so a lost one does no harm.
---@alias runner.WorkProgress runner.WorkProgressBegin|runner.WorkProgressReport|runner.WorkEnd

---@class runner.WorkProgressBegin
---@field kind 'begin'
---@field title string Such as `Pulling qwen3:4b`.
---@field cancellable true
---@field percentage 0

---@class runner.WorkProgressReport
---@field kind 'report'
---@field percentage? number It never falls, and it is absent while nothing can be counted.
---@field message string What is happening, such as `Downloading: 1.2 of 4.7 GB`.
---@field completed? integer Bytes of all parts that are known so far.
---@field total? integer
---@field parts? runner.PartProgress[] In the order in which they started.
