;;; runner-protocol.el --- The messages of runnerd  -*- lexical-binding: t; -*-
;; Made from protocol/messages of Runner by "npm run generate": version 1 of its protocol.
;;; Commentary:
;; Parameters and results are plists, as jsonrpc.el has them.
;; `M-x runner-protocol-describe' shows a method.
;;; Code:

(defconst runner-protocol-methods
  '(
    ("runner/chat" client request
     ChatParams ChatResult
     "One turn. A cancelled chat is a normal result with the answer so far.")
    ("runner/chat/delta" daemon notification
     ChatDelta nil
     "The next piece of an answer. All deltas come before the chat's result; together they make up its message.")
    ("runner/chat/cancel" client notification
     CancelChatParams nil
     "Ends the chat or the edit whose deltas have this `streamId`, as `$/cancelRequest` does.")
    ("runner/chat/setMode" client request
     SetModeParams (map any)
     "The user has chosen another mode while a chat runs. It decides at once what is asked; the tools that the model is offered change with the next turn. It does nothing if the chat has ended.")
    ("textDocument/inlineCompletion" client request
     InlineCompletionParams (or InlineCompletionList null)
     "Asks for a suggestion at the cursor. Never an error; null means superseded, cancelled or impossible.")
    ("runner/edit" client request
     EditParams EditResult
     "Lines of a file as an instruction wants them. A cancelled edit is a normal result.")
    ("runner/edit/delta" daemon notification
     EditDelta nil
     "The next piece of an edit. All deltas come before the result.")
    ("runner/tools/elicit" daemon request
     ElicitParams ElicitResult
     "A tool server asks the user during a call. A chat has one open question at a time, those before calls among them. A cancel withdraws it.")
    ("runner/engine/status" client request
     (map any) EngineStatus
     "What was started here, and what is installed for it.")
    ("runner/engine/offers" client request
     (map any) EngineOffers
     "What could be started or fetched. Programs are run with `--version`; nothing else is.")
    ("runner/engine/models" client request
     EngineModelsParams EngineModelsResult
     "The models on this machine that the engine could load.")
    ("runner/engine/install" client request
     WorkDoneParams EngineInstallResult
     "Install the library of the engine. The user has agreed.")
    ("runner/engine/sample" client request
     WorkDoneParams EngineSampleResult
     "Fetch the small model. The user has agreed.")
    ("runner/engine/start" client request
     EngineStartParams EngineStatus
     "Start it; answered once it is ready. One that runs already with what is asked for is used. Another one is ended first.")
    ("runner/engine/stop" client request
     (map any) EngineStopResult
     "End it; answered once it is gone.")
    ("runner/engine/remove" client request
     (map any) EngineRemoveResult
     "Delete the library and the sample.")
    ("runner/files/find" client request
     FindFilesParams FindFilesResult
     "The files that a text names by `@path`, `@folder/` or `@src/**\\/*.ts`, and the resources of tool servers, by `@server:uri`. Words that name nothing and do not look like a path are left out of the result.")
    ("runner/files/fetch" client request
     FetchFileParams FetchFileResult
     "The text of a page. The client asks the user before, and shows the host.")
    ("runner/files/complete" client request
     CompleteResourceParams CompleteResourceResult
     "The resources whose words begin with what was typed behind an `@`; before the colon, the servers. A server is started, and waited for a moment, once its name is whole.")
    ("runner/files/search" client request
     SearchFilesParams SearchFilesResult
     "The excerpts of the files of a folder that have most of the words of a question.")
    ("runner/trust/didChange" client notification
     TrustParams nil
     "The user now trusts the workspace, or no longer trusts it.")
    ("runner/logs/start" client request
     ServerParams StartLogsResult
     "Follow the logs of a runner on this host.")
    ("runner/logs/stop" client request
     ServerParams StartLogsResult
     "Follow them no longer.")
    ("runner/log" daemon notification
     LogParams nil
     "One line of a log, without secrets, prompts or answers.")
    ("$/progress" daemon notification
     ProgressParams nil
     "LSP's own notification.")
    ("runner/modelfile/parse" client request
     ParseModelfileParams ParseModelfileResult
     "Read a Modelfile.")
    ("runner/models/list" client request
     ListModelsParams ListModelsResult
     "The installed models, newest first.")
    ("runner/models/chatModel" client request
     ServerParams ChatModelResult
     "Which model answers. Clients ask when a conversation begins. Without a `server` it may be one of any server, with a name as for `everywhere`; a model of another server than the one at `host` counts if it was chosen, or if that has none.")
    ("runner/models/choose" client request
     ModelParams (map any)
     "The user chose this model to chat with, or it answered. Clients remember it; `\"\"` forgets.")
    ("runner/models/running" client request
     ServerParams RunningModelsResult
     "The models that are loaded now.")
    ("runner/models/show" client request
     ModelParams ShowModelResult
     "Everything about one model.")
    ("runner/models/library" client request
     CatalogParams CatalogResult
     "The public library.")
    ("runner/models/cloud" client request
     CatalogParams CatalogResult
     "The cloud models.")
    ("runner/models/probeCatalog" client request
     ProbeCatalogParams (map any)
     "Ask whether a catalog answers at an address that is not in the settings yet.")
    ("runner/models/pull" client request
     PullModelParams PullModelResult
     "Download a model. Two pulls of one model share one download.")
    ("runner/models/create" client request
     CreateModelParams CreateModelResult
     "Create a model from a Modelfile; either `path` or `text` is given.")
    ("runner/models/run" client request
     RunModelParams RunModelResult
     "Load a model.")
    ("runner/models/stop" client request
     ModelParams (map any)
     "Unload a model; answered once it is gone.")
    ("runner/models/delete" client request
     DeleteModelParams (map any)
     "Remove a model from the disk.")
    ("runner/models/didChange" daemon notification
     (map any) nil
     "The models changed. It is sent within 2 s of any pull, create, delete, run, stop or unload, and of a list or a chat that shows that another program changed them.")
    ("runner/prompts/list" client request
     ListPromptsParams ListPromptsResult
     "Which prompts there are, those that cannot be used too. Files and servers are asked each time.")
    ("runner/prompts/get" client request
     GetPromptParams GetPromptResult
     "The text of a prompt, with its arguments filled in.")
    ("runner/prompts/complete" client request
     CompletePromptParams CompletePromptResult
     "What the user may mean, at most 100 values. It is empty if the prompt is a file, or if its server does not know or does not answer in time.")
    ("runner/prompts/allow" client request
     AllowPromptsParams AllowPromptsResult
     "The user's answer to the question whether the prompts of the workspace's folder count. It is kept for every client.")
    ("runner/sessions/create" client request
     CreateSessionParams CreateSessionResult
     "Creates a conversation, for the `session` of a chat.")
    ("runner/sessions/list" client request
     ListSessionsParams ListSessionsResult
     "Lists the kept conversations.")
    ("runner/sessions/read" client request
     ReadSessionParams ReadSessionResult
     "Reads one conversation with all of its messages.")
    ("runner/sessions/update" client request
     UpdateSessionParams UpdateSessionResult
     "Changes the title.")
    ("runner/sessions/undo" client request
     SessionParams UndoTurnResult
     "Takes the last turn out of a conversation: its prompt, with prompts before it that were never answered, and everything after it. Without a turn, nothing changes.")
    ("runner/sessions/fork" client request
     ForkSessionParams ReadSessionResult
     "Begins a new conversation with what was said in another one, which stays as it is.")
    ("runner/sessions/delete" client request
     SessionParams (map any)
     "Removes a conversation from the disk.")
    ("runner/sessions/close" client request
     SessionParams (map any)
     "Other programs may continue the conversation. Its next turn opens it again.")
    ("runner/sessions/didChange" daemon notification
     (map any) nil
     "A conversation was created, changed or deleted by this daemon.")
    ("runner/settings/list" client request
     (map any) ListSettingsResult
     "Which settings count, and where each comes from.")
    ("runner/status" client request
     ServerParams Status
     "Ask for the runner's status.")
    ("runner/servers" client request
     (map any) ServersResult
     "Ask for the status of every configured server, the one at `host` first. All are asked at once, and none delays the answer by more than four seconds.")
    ("runner/probe" client request
     ProbeParams ProbeResult
     "Ask whether a runner answers at an address that is not in the settings yet. `server` is the server that would have the address: its CA file counts. The answer is an error if no runner answers within four seconds.")
    ("runner/discover" client request
     (map any) DiscoverResult
     "Look for runners at the usual ports of this machine, without any token. Clients ask when the user starts a check and nothing answers where it should; nothing is set.")
    ("runner/setHost" client request
     SetHostParams SetHostResult
     "The user wants this runner from now on. It becomes `host` in the user's own configuration, and counts when a daemon starts. A client with settings of its own sets it there instead.")
    ("runner/status/didChange" daemon notification
     Status nil
     "The runner's status changed.")
    ("runner/tools/didRefuse" daemon notification
     ToolRefusals nil
     "All refusals of this session, sent whenever they change. A client that starts another daemon in the same session passes them on, as `refusedTools` of `initializationOptions`.")
    ("runner/tools/list" client request
     ListToolsParams ListToolsResult
     "Lists the tool servers and what they offer. Servers that do not run yet are started; the daemon waits up to 15 s for them.")
    ("runner/tools/didChange" daemon notification
     (map any) nil
     "A tool server started, stopped, or changed its tools, or the settings have other tool servers.")
    ("runner/tools/approve" daemon request
     ApproveToolParams ApproveToolResult
     "May this call run?")
    ("runner/tools/progress" daemon notification
     ToolProgress nil
     "A call of a daemon tool makes progress. Reports that come faster than they are read are left out.")
    ("runner/tools/login" client request
     LoginParams LoginResult
     "Begins a login (OAuth). It ends an earlier login to the same server that is still open.")
    ("runner/tools/finishLogin" client request
     FinishLoginParams FinishLoginResult
     "Waits until the user is logged in, for ten minutes at most. A cancel ends the login.")
    ("runner/tools/logout" client request
     LoginParams LogoutResult
     "Forgets the login, and revokes it if the server offers that.")
    ("runner/edits/list" client request
     EditsParams EditsResult
     "The edits of the last turn, if it is the one with this prompt.")
    ("runner/edits/undo" client request
     EditsParams RestoredEdits
     "Takes these edits back. Nothing that anybody else has changed is overwritten.")
    ("runner/edits/redo" client request
     RedoEditsParams RestoredEdits
     "Brings back what was taken back last in the conversation.")
    ("runner/checks/list" client request
     (map any) ListChecksResult
     "The checks that a model may be offered.")
    ("runner/checks/suggest" client request
     (map any) SuggestChecksResult
     "What files of the project suggest, without the names that are taken.")
    ("runner/checks/allow" client request
     AllowCheckParams (map any)
     "The user takes this suggestion. It counts until its file changes.")
    )
  "For each method who sends it, its kind, parameters, result and purpose.")

(defconst runner-protocol-types
  '(
    (Ability "What a runner can do. A client offers that and nothing else. - `count`: Counts a prompt before it is sent. - `embed`: Makes vectors of texts. No message asks for it yet. It is said of Ollama alone; other servers may do it too. - `catalog`: The models of the public library, and of its cloud, can be used there." (member "chat" "complete" "count" "load" "unload" "pull" "delete" "create" "embed" "logs" "catalog"))
    (Advice "The advice in a message. The message is `problem`, a blank and `text`." plist
     (:code required AdviceCode "")
     (:problem required string "What is wrong, in one or more sentences. A client puts its own words for the code after it.")
     (:text required string "The advice in words that fit any client.")
     (:server optional string "With `log-in`: the name of the tool server.")
     (:contextLength optional integer "With `shorten-prompt`, `offer-fewer-tools` and `make-room`: the tokens of a window that fits; 0 if the model can have none. Absent if that is not known."))
    (AdviceCode "- `start-runner`: No runner answers at the address. - `check-address`: Something else answers at the address, or nothing with its name. - `check-proxy`: A web page answers at the address. - `set-address`: The address leads to another one, which is not followed. - `name-ca-file`: The certificate of the runner is not trusted. - `set-token`: The server wants a token, or another one. - `set-password`: The server wants a user name and a password, or other ones. They are stored as a token is. - `use-https`: There is a token, and it is not sent over plain http to another machine. - `shorten-prompt`: The prompt does not fit into the context window. - `offer-fewer-tools`: The prompt does not fit, and most of it describes tools. - `make-room`: The prompt nearly fills the context window. - `log-in`: The tool server wants a login; `server` names it. - `wait-for-restart`: The tool server has failed and is started again later, or is still starting. - `check-network`: The model catalog cannot be reached. - `set-catalog`: What answers is no model catalog." (member "start-runner" "check-address" "check-proxy" "set-address" "name-ca-file" "set-token" "set-password" "use-https" "shorten-prompt" "offer-fewer-tools" "make-room" "log-in" "wait-for-restart" "check-network" "set-catalog"))
    (AgentCheck "A check that was run." plist
     (:name required string "")
     (:exitCode required (or number null) "Null if it did not exit by itself.")
     (:ms required integer ""))
    (AgentEdit "" plist
     (:path required string "Below the folder of the workspace.")
     (:added required integer "In lines, as `removed`.")
     (:removed required integer ""))
    (AgentMode "How far a model may go with the built-in tools; only the user chooses it. `read`: it is offered neither edits nor checks. `ask`: the user is asked about each. `edit`: edits are made without a question. `auto`: so are reads and checks, in a trusted workspace. Some files are asked about in every mode, because they decide what runs." (member "read" "ask" "edit" "auto"))
    (AgentParams "" plist
     (:mode optional AgentMode "")
     (:cleared optional ClearedParts "What an earlier turn reported. A kept conversation (`session`) needs none, because its file has it."))
    (AgentResult "What a turn with the built-in tools did." plist
     (:rounds required integer "How often the model was asked.")
     (:cleared optional ClearedParts "Absent if nothing is removed.")
     (:edits required (vector AgentEdit) "In their order; a file that was edited again is here again.")
     (:checks required (vector AgentCheck) ""))
    (AllowCheckParams "" plist
     (:name required string "")
     (:folder required string "")
     (:hash required string "Of the whole file: with another content it is another suggestion."))
    (AllowPromptsParams "" plist
     (:allowed required boolean "")
     (:cwd optional string "The absolute path of the workspace; default: the root of the client's `initialize`."))
    (AllowPromptsResult "" plist
     (:folder optional PromptFolder ""))
    (Approvals "Tools that run without a question, by the name of their server and their own name." (map (or (vector string) (member "always"))))
    (ApproveToolParams "" plist
     (:streamId required string "The `streamId` of the chat that wants the call.")
     (:toolCall required ToolCall "")
     (:server required string "")
     (:title optional string "")
     (:description required string "")
     (:annotations optional ToolAnnotations "")
     (:diff optional FileDiff "What the call would change, in place of most of its arguments. Only a client with `showsDiffs` gets it.")
     (:command optional (vector string) "The words of the command that the call would run. They may come from a model.")
     (:decisions optional (vector ToolDecision) "The possible answers. Absent: `once`, `session`, `always` and `deny`. Any other answer is a denial."))
    (ApproveToolResult "" plist
     (:decision required ToolDecision "")
     (:reason optional string "With `deny` and `stop`: what the model should know of it, of which 1,000 characters count."))
    (Attachment "A text that accompanies what the user typed, such as a file or selected lines." plist
     (:path required string "Where the text comes from, as the model sees it: a path, an address or a few words.")
     (:lines optional string "The lines that the text covers, counted from 1, such as `3-9`. Absent means the whole file.")
     (:language optional string "The language of the text, such as `lua`.")
     (:text required string "")
     (:uris optional (vector string) "The addresses of the files that the text comes from, such as `file:///home/me/a.lua`; of a renamed file both. They decide whether the text is private. Without them, `path` does.")
     (:automatic optional boolean "The client added it, and the user did not name it. If it is private, only its name is sent."))
    (CancelChatParams "" plist
     (:streamId required string ""))
    (Capability "Whether a model can do something, and how the daemon learnt it." plist
     (:value required (or boolean (member "unknown")) "")
     (:from required FactSource ""))
    (CatalogEntry "" plist
     (:name required string "The name in the catalog.")
     (:model required string "The name to pull. For a cloud model it has the runner's suffix, such as `gpt-oss:120b-cloud`.")
     (:description optional string "")
     (:capabilities optional (vector string) "")
     (:sizes optional (vector string) "Such as `8b`.")
     (:url required string "")
     (:family required string "")
     (:installed required boolean "True if `model` is installed, or, for a name without a tag, any tag of it."))
    (CatalogParams "" plist
     (:query optional string "")
     (:refresh optional boolean "")
     (:cached optional boolean "Answers with the list that is kept, however old it is, and asks no catalog.")
     (:server optional string "A name of `servers`; absent means the server at `host`, whose name is `default`."))
    (CatalogResult "" plist
     (:entries required (vector CatalogEntry) "")
     (:fetchedAt required string "")
     (:stale optional (member true) ""))
    (ChatDelta "" (or ChatDeltaText ChatDeltaToolCall ChatDeltaToolResult ChatDeltaNotice))
    (ChatDeltaNotice "" plist
     (:streamId required string "")
     (:seq required integer "Starts at 0 and grows by one with each delta.")
     (:kind required (member "notice") "")
     (:notice required Notice ""))
    (ChatDeltaText "" plist
     (:streamId required string "")
     (:seq required integer "Starts at 0 and grows by one with each delta.")
     (:kind required (member "text" "thinking") "")
     (:text required string ""))
    (ChatDeltaToolCall "" plist
     (:streamId required string "")
     (:seq required integer "Starts at 0 and grows by one with each delta.")
     (:kind required (member "toolCall") "")
     (:toolCall required ToolCall ""))
    (ChatDeltaToolResult "" plist
     (:streamId required string "")
     (:seq required integer "Starts at 0 and grows by one with each delta.")
     (:kind required (member "toolResult") "")
     (:toolResult required ToolResult ""))
    (ChatModelResult "The model that answers when a conversation begins and nobody has named one." plist
     (:model optional Model "Absent if no model may be picked: none can chat, or all that can chat run elsewhere.")
     (:from optional (member "setting" "choice" "loaded" "newest") "Why it was picked: the setting `chatModel`, the user's last choice in any client, or what is available.")
     (:missing optional string "The model that `chatModel` names, if it is not installed or cannot chat."))
    (ChatParams "" plist
     (:streamId required string "Chosen by the client; the deltas of this chat carry it.")
     (:model required string "")
     (:messages required (vector Message) "The whole conversation, or with `history` its new messages. At least one, except to ask the last prompt again.")
     (:tools optional (vector Tool) "")
     (:hostedTools optional (or (member "all") (vector string)) "Names of tool servers whose tools the model may call too. The daemon runs these calls and asks the model again with their results. A call of one of `tools` still ends the turn.")
     (:maxRounds optional integer "With `hostedTools`: rounds of calls; more than `maxToolRounds` are never run. Default: the setting `rounds`.")
     (:agent optional AgentParams "How a model works with the built-in tools.")
     (:toolChoice optional (member "auto" "none" "required") "`none` leaves the tools out. A server that cannot hold a model to a call treats `required` as `auto`, with a notice.")
     (:think optional (or boolean ThinkLevel) "Sent only to models with the thinking capability; absent leaves it to the runner.")
     (:options optional (map any) "The runner's own options, such as `temperature`.")
     (:keepAlive optional (or string number) "Seconds, or a duration with a unit such as `10m`. A negative value means for ever.")
     (:format optional (or string (map any)) "`\"json\"` or a JSON Schema that the answer must follow. The runner holds the model to it; the daemon checks the answer, and the notice `format-not-held` says what is wrong with it.")
     (:context optional (member "leading") "`leading` searches the text of the leading user messages for context blocks, which become one system message. It is for a client that receives text in which an editor has joined its blocks and the user's words. `attachments` need no search: they always become part of that system message.")
     (:contextTags optional (vector string) "Element names of context blocks besides those of `contextTags`.")
     (:dropContextTags optional boolean "The open and close tags of context blocks are not shown, even if the model wrote them. Their content stays.")
     (:thinkingFormat optional (member "separate" "quote") "`quote` puts thinking into the text as a collapsible block quote.")
     (:session optional string "The `id` of a kept conversation. What this turn adds is appended to it when the turn ends.")
     (:history optional (member "kept") "With `session`: `kept` sends what the daemon has of the conversation before `messages`, which then has only what is new. A system message in it takes the place of the kept one, and an empty one removes that.")
     (:replacesLastTurn optional boolean "With `session`: the turn takes the place of the last one there, which `messages` does not have any more. It does so once its answer is whole; if the turn fails or is cancelled, the last one stays. With `history` and without a new message, the last prompt is asked again.")
     (:server optional string "A name of `servers`; absent means the server at `host`, whose name is `default`."))
    (ChatResult "The whole answer. It is authoritative; the deltas before it are an optimisation." plist
     (:finishReason required FinishReason "")
     (:message required Message "With `hostedTools`, the last message.")
     (:messages optional (vector Message) "With `hostedTools`: every message that the turn added, in order, ready to be sent as history. Every call that the daemon runs has its answer here, even when the turn was cancelled.")
     (:usage required Usage "With several rounds: the prompt tokens of the last round, and the completion tokens of all rounds.")
     (:notices required (vector Notice) "")
     (:agent optional AgentResult "Only of a turn with the built-in tools."))
    (CheckOptions "A command that the user lets models run: a list of words that no shell reads." plist
     (:command required (vector string) "The program and its arguments. The argument `{path}` becomes the path that a call names; a call without a path leaves it out.")
     (:timeout optional integer "In seconds. `timeouts.toolTotal` limits it too.")
     (:env optional (map string) "Added to what every tool server inherits."))
    (Checks "Checks by the absolute path of their project folder, and by their name." (map (map CheckOptions)))
    (ClearedParts "What was removed from the prompts of a conversation to save room. It stays out of later ones." plist
     (:results required (vector string) "The ids of the calls whose results are removed.")
     (:rounds required (vector string) "The ids of the first calls of rounds that are removed.")
     (:answers required integer "How many answers, from the beginning, have no thinking any more.")
     (:turns required integer "How many turns, from the beginning, are removed."))
    (CompletePromptParams "" plist
     (:name required string "Of the prompt.")
     (:argument required string "The name of the argument.")
     (:value required string "What the user has typed of its value.")
     (:values optional (map string) "The other values so far, by name.")
     (:cwd optional string "The absolute path of the workspace; default: the root of the client's `initialize`."))
    (CompletePromptResult "" plist
     (:values required (vector string) ""))
    (CompleteResourceParams "" plist
     (:word required string ""))
    (CompleteResourceResult "" plist
     (:words required (vector ResourceWord) ""))
    (CompletionAcceptedParams "" plist
     (:id required string "Identifies one of the daemon's suggestions."))
    (ContextLength "Tokens of a window." plist
     (:allocated optional integer "What the runner has allocated for the loaded model.")
     (:configured optional integer "What the user or the Modelfile requests.")
     (:maximum optional integer "What the model was made for.")
     (:from optional FactSource "Where the figures were learnt; absent if there is none."))
    (ConversationSettings "What the last turn of a conversation was asked with. A client that continues it sends the same again. It says nothing about approvals." plist
     (:system optional string "The system message that the client sent.")
     (:think optional (or boolean ThinkLevel) "Sent only to models with the thinking capability; absent leaves it to the runner.")
     (:options optional (map any) "The runner's own options, such as `temperature`.")
     (:hostedTools optional (or (member "all") (vector string)) "Names of tool servers whose tools the model may call too. The daemon runs these calls and asks the model again with their results. A call of one of `tools` still ends the turn.")
     (:maxRounds optional integer "With `hostedTools`: rounds of calls; more than `maxToolRounds` are never run. Default: the setting `rounds`."))
    (CreateModelParams "" plist
     (:path optional string "The absolute path of a Modelfile; relative paths in it start from its folder.")
     (:text optional string "The text of a Modelfile; it may hold only names and absolute paths.")
     (:model required string "")
     (:server optional string "A name of `servers`; absent means the server at `host`, whose name is `default`.")
     (:workDoneToken optional ProgressToken "Without it the daemon makes a token, if the editor has `window.workDoneProgress`."))
    (CreateModelResult "" plist
     (:model required string ""))
    (CreateSessionParams "" plist
     (:title optional string "One line.")
     (:cwd optional string "The absolute path of a folder.")
     (:kept optional boolean "False: it is not written to the disk."))
    (CreateSessionResult "" plist
     (:session required Session ""))
    (DeleteModelParams "" plist
     (:stop optional boolean "True stops a running model first; otherwise a running model is the error `busy`.")
     (:model required string "")
     (:server optional string "A name of `servers`; absent means the server at `host`, whose name is `default`."))
    (DiscoverResult "" plist
     (:runners required (vector FoundRunner) ""))
    (EditDelta "`text` and `thinking` are appended to what came before. `seq` starts at 0 and grows by one with each delta." (or EditDeltaText EditDeltaNotice))
    (EditDeltaNotice "" plist
     (:streamId required string "")
     (:seq required integer "")
     (:kind required (member "notice") "")
     (:notice required Notice ""))
    (EditDeltaText "" plist
     (:streamId required string "")
     (:seq required integer "")
     (:kind required (member "text" "thinking") "")
     (:text required string ""))
    (EditParams "" plist
     (:streamId required string "Chosen by the client; the deltas of this edit carry it.")
     (:model required string "")
     (:instruction required string "What the user wants, as typed.")
     (:text required string "Whole lines, with or without the line end of the last one. If they are blank, the model writes new lines.")
     (:before optional string "The lines before them and after them, as many as the client likes; the daemon sends the nearest.")
     (:after optional string "")
     (:path optional string "The file, as the model sees it.")
     (:language optional string "The language of the text, such as `lua`.")
     (:uris optional (vector string) "The addresses of the file, as in an `Attachment`. Of a private file, only `text` is sent.")
     (:think optional (or boolean ThinkLevel) "As in a chat.")
     (:options optional (map any) "")
     (:keepAlive optional (or string number) "")
     (:server optional string "A name of `servers`; absent means the server at `host`, whose name is `default`."))
    (EditResult "The new lines. They are authoritative; the deltas before them are their beginning." plist
     (:finishReason required FinishReason "`stop` if the text is whole.")
     (:text required string "With the line ends of the lines to change, also of the last one. If it is empty, nothing is left of the lines.")
     (:usage required Usage "")
     (:notices required (vector Notice) ""))
    (EditsParams "" plist
     (:session required string "The `id` of a kept conversation.")
     (:prompt required integer "How many prompts of the user the conversation has: those of the turn are meant."))
    (EditsResult "What the built-in tools have changed in a turn, each file once." plist
     (:files required (vector FileDiff) "")
     (:count required integer "How many edits there were; 0 if the turn has made none."))
    (EffectiveSetting "A setting as it counts now." plist
     (:name required string "")
     (:value required any "Null if nothing is set and there is no default. It has no secrets: addresses are without user names and passwords, and of a tool server there is only the command or the origin.")
     (:from required (member "default" "environment" "file" "client") "Who set it: nobody, the environment, the user's own configuration, or the client."))
    (ElicitField "What a tool server wants to know. All texts are the server's: a client makes control characters visible." plist
     (:name required string "")
     (:title optional string "What to call it, if the server gives it a better name.")
     (:description optional string "One line.")
     (:required required boolean "")
     (:type required (member "text" "number" "integer" "boolean" "choice" "choices") "`choice` is one of `options`, `choices` are several.")
     (:format optional (member "email" "uri" "date" "date-time") "Of a text.")
     (:options optional (vector ElicitOption) "")
     (:default optional ElicitValue ""))
    (ElicitOption "" plist
     (:value required string "")
     (:title required string ""))
    (ElicitParams "" plist
     (:streamId required string "The `streamId` of the chat whose call asks.")
     (:server required string "The name of the tool server, which is always shown.")
     (:message required string "The server's own words.")
     (:fields required (vector ElicitField) "Without any, the user only agrees or declines.")
     (:problem optional string "What was wrong with the values before; `fields` are then those that are asked again.")
     (:warning optional string "A sentence for the user, such as that the server seems to ask for a secret.")
     (:url optional string "The address that the user is to open: https, or http on this machine. It is shown, and never opened by itself.")
     (:host optional string "The host of `url`."))
    (ElicitResult "" plist
     (:action required (member "accept" "decline" "cancel") "`decline` says no, `cancel` gives no answer.")
     (:content optional (map ElicitValue) "By the names of the fields. Any value may be the text that the user typed; the daemon reads and checks it."))
    (ElicitValue "" (or string number boolean (vector string)))
    (EngineFetch "What a way fetches before it starts anything, once the user agrees: by `runner/engine/install` or `…/sample`." plist
     (:what required (member "library" "sample") "")
     (:bytes required integer "Bytes.")
     (:description required string "What the user should know before, in sentences: how much, under which licenses, from where and where to."))
    (EngineInstallResult "" plist
     (:folder required string ""))
    (EngineModel "A file with weights (GGUF) on this machine." plist
     (:name required string "Such as `llama3.2:3b`, or the name of its file without the ending.")
     (:path required string "")
     (:size required integer "Bytes.")
     (:fits required boolean "Whether it fits into the memory, with a small window.")
     (:source required (member "path" "sample" "Ollama" "Hugging Face" "LM Studio" "llama.cpp" "Jan" "GPT4All") "Whose folder it is in."))
    (EngineModelsParams "" plist
     (:path optional string "An absolute path of a file or a folder to look into as well."))
    (EngineModelsResult "" plist
     (:models required (vector EngineModel) "")
     (:isCut optional (member true) "A folder had more than the search looks at."))
    (EngineOffers "" plist
     (:programs required (vector InstalledProgram) "")
     (:library required Fetchable "The library that runs models.")
     (:sample required Fetchable "The small model.")
     (:ways required (vector EngineWay) "What to offer to a user who has no runner, the most capable one first; at most one of each product."))
    (EngineProduct "What Runner can start: its own engine, or a program that the user has installed." (member "runner-engine" "llama.cpp" "ollama"))
    (EngineRemoveResult "" plist
     (:wasThere required boolean ""))
    (EngineSampleResult "" plist
     (:path required string ""))
    (EngineSettings "" plist
     (:keepRunning optional boolean "True: it goes on running after the last program that uses it, until `runner/engine/stop`."))
    (EngineStartParams "" plist
     (:product optional EngineProduct "Absent: the engine if it is installed, or else llama-server.")
     (:model optional string "The absolute path of a file, or a name of `runner/engine/models`. Absent: the last one, or else the sample.")
     (:context optional integer "Tokens of the window.")
     (:threads optional integer "")
     (:keep optional boolean "True: it runs until `runner/engine/stop`. Otherwise as long as a daemon uses it.")
     (:workDoneToken optional ProgressToken "Without it the daemon makes a token, if the editor has `window.workDoneProgress`."))
    (EngineStatus "What was started here; there is at most one for a user." plist
     (:state required (member "running" "stopped" "down") "`down`: it ended by itself, and was not started again.")
     (:message required string "A sentence for the user.")
     (:product optional EngineProduct "")
     (:url optional string "")
     (:model optional string "The name under which it has its model. Absent for Ollama.")
     (:context optional integer "Tokens of its window, if it said so.")
     (:isInstalled required boolean "Whether the library of the engine is installed.")
     (:sample optional string "The path of the sample, if that was fetched."))
    (EngineStopResult "" plist
     (:wasRunning required boolean ""))
    (EngineWay "One way to a model that answers." plist
     (:label required string "For a list, such as `start Ollama 0.31.4, which is installed`.")
     (:fetches required (vector EngineFetch) "In this order. Empty: everything is there.")
     (:warning optional string "What the user should know about the model, as a sentence.")
     (:start required EngineWayStart "Parameters of `runner/engine/start`."))
    (EngineWayStart "" plist
     (:product required EngineProduct "")
     (:model optional string ""))
    (ErrorData "The `data` of every error whose code is in `errorCodes`." plist
     (:kind required ErrorKind "")
     (:retryable required boolean "")
     (:advice optional Advice "What can be done about it, if the message ends in that.")
     (:server optional string "The name of the server that was asked.")
     (:model optional string "")
     (:capability optional string "With `not-supported`: what the model cannot do.")
     (:partial optional any "The part of a chat's answer that arrived before it failed: a `Message`.")
     (:messages optional (vector any) "With `hostedTools`: all `Message`s that the turn had added, including what had arrived of the last one.")
     (:signinUrl optional string "With `unauthorized`: where to sign in, if the runner named an address.")
     (:retryAfter optional integer "With `busy`: seconds to wait, if the runner named them.")
     (:needed optional integer "With `context-exceeded`: the estimated tokens of the prompt.")
     (:allocated optional integer "With `context-exceeded`: the tokens of the window.")
     (:maximum optional integer "With `context-exceeded`: the tokens of the largest window that the model can have.")
     (:outOfMemory optional (member true) "With `runner-failed`: the model did not fit into what is left of the memory.")
     (:diagnostics optional (vector any) "With `invalid-modelfile`."))
    (ErrorKind "The stable names of what can go wrong, the same on the wire and in the terminal's `--json`. - `server-unreachable`: No connection, refused, DNS, TLS, or the connection was lost before any answer. - `timeout`: One of the daemon's own time limits ran out. - `unauthorized`: The runner answered 401 or 403. - `model-not-found`: The runner answered 404 with a JSON error that names a model. - `not-supported`: The model cannot do what was asked, or the runner does not have the route. - `context-exceeded`: The prompt is longer than the window. - `busy`: 503, 429, or a running model is in the way. - `bad-response`: HTML, invalid JSON, a wrong shape, too large, a redirect, or a stream that ends without `done`. - `runner-failed`: The runner itself failed: 5xx or an error line. - `invalid-modelfile`: The Modelfile has mistakes; `data.diagnostics` says where. - `invalid-request`: The runner refused the request: any other 4xx." (member "server-unreachable" "timeout" "unauthorized" "model-not-found" "not-supported" "context-exceeded" "busy" "bad-response" "runner-failed" "invalid-modelfile" "invalid-request"))
    (FactSource "Where a fact about a model was learnt. `observed`: from what the model did or refused in this session. `assumed`: nobody said it, and it is what such a server usually does." (member "server" "observed" "name" "configured" "assumed"))
    (FetchFileParams "" plist
     (:url required string ""))
    (FetchFileResult "" plist
     (:file required FoundFile ""))
    (Fetchable "Something that can be fetched, once the user agrees." plist
     (:isThere required boolean "")
     (:bytes required integer "Bytes.")
     (:from required string "From where, such as `the npm registry https://registry.npmjs.org/`.")
     (:licenses required string "Such as `MIT (98), ISC (13)`.")
     (:packages required integer "How many packages.")
     (:folder required string "Where it goes.")
     (:problem optional string "Why it cannot be fetched here, and what else there is."))
    (FileDiff "The change of a text file. The texts come from files and models: a client makes control characters visible." plist
     (:path required string "The absolute path of the file.")
     (:name required string "The path below the folder of the workspace, with slashes.")
     (:before optional string "Absent: the file is new. Line ends are those of the file.")
     (:after required string "")
     (:unified required string "The hunks of the unified format, with three lines of context, without the lines that name the files."))
    (FindFilesParams "" plist
     (:text required string "What the user typed, as typed. Each word that begins with `@` may name files.")
     (:cwd required string "The absolute path of the folder to which the names are relative."))
    (FindFilesResult "" plist
     (:mentions required (vector FoundMention) ""))
    (FinishLoginParams "" plist
     (:server required string "")
     (:redirectedTo optional string "The whole address to which the browser was redirected, if the browser runs on another machine and cannot reach the daemon. Without it the daemon waits for the browser."))
    (FinishLoginResult "" plist
     (:scope optional string "What the login allows, in the words of the server, if it says so."))
    (FinishReason "`toolLimit`: the rounds of calls were used up, so the model answered without tools. `toolLoop`: it did so because its calls went round in circles." (member "stop" "length" "toolCalls" "toolLimit" "toolLoop" "cancelled"))
    (ForkSessionParams "" plist
     (:turns optional integer "How many of the user's prompts the new conversation begins with, each with what follows it. Without it, all.")
     (:id required string ""))
    (FoundFile "A file that the text names, a page that was fetched, or a resource of a tool server." plist
     (:path required string "Of a resource: as in the text, such as `team:memo://1`.")
     (:bytes required integer "")
     (:tokens required integer "Estimated.")
     (:privacy optional (member "secret" "excluded") "It looks like a secret, or `exclude` names it. The client asks before it sends such a file.")
     (:attachment optional Attachment "Its text, ready for the `attachments` of a message. Absent if it is a picture.")
     (:image optional string "A picture as base64, ready for the `images` of a message."))
    (FoundMention "A word that names something. The text itself stays as it is." plist
     (:word required string "As typed, with the `@`.")
     (:files required (vector FoundFile) "")
     (:url optional string "The address that the word is. Nothing is fetched before the client asks for it.")
     (:notes required (vector string) "Sentences for the user: what was left out, or why the word names nothing."))
    (FoundRunner "A runner that the user has not named." plist
     (:url required string "")
     (:product required Product "")
     (:models optional integer "Absent if it wants a token."))
    (GetPromptParams "" plist
     (:name required string "")
     (:text optional string "What the user typed behind the name. It fills the arguments.")
     (:values optional (map string) "Values of arguments, by name. They come before what `text` says.")
     (:cwd optional string "The absolute path of the workspace; default: the root of the client's `initialize`."))
    (GetPromptResult "- `{       readonly kind: 'missing';       readonly missing: readonly PromptArgument[];       /** The values that `text` gave. */       readonly values: Readonly<Record<string, string>>;       readonly message: string;     }`: Required arguments have no value. `message` says so; a client that can asks for them and sends `values`. - `{ readonly kind: 'unasked'; readonly folder: PromptFolder; readonly message: string }`: It is in a folder that the user has not been asked about; then `runner/prompts/allow`. - `{ readonly kind: 'unusable'; readonly message: string }`: It cannot be used, and why. - `{       readonly kind: 'none';       /** Names that are near, best first. */       readonly near: readonly string[];     }`: There is no such prompt." (or GetPromptResultPrompt GetPromptResultMissing GetPromptResultUnasked GetPromptResultUnusable GetPromptResultNone))
    (GetPromptResultMissing "" plist
     (:kind required (member "missing") "")
     (:missing required (vector PromptArgument) "")
     (:values required (map string) "The values that `text` gave.")
     (:message required string ""))
    (GetPromptResultNone "" plist
     (:kind required (member "none") "")
     (:near required (vector string) "Names that are near, best first."))
    (GetPromptResultPrompt "" plist
     (:kind required (member "prompt") "")
     (:name required string "")
     (:text required string "The whole text. Nothing in it is looked up: no path, no address, no placeholder in a value.")
     (:images optional (vector string) "Base64, for the `images` of the message. Only a prompt of a tool server has them.")
     (:model optional string "")
     (:tools optional (vector string) "For `hostedTools`."))
    (GetPromptResultUnasked "" plist
     (:kind required (member "unasked") "")
     (:folder required PromptFolder "")
     (:message required string ""))
    (GetPromptResultUnusable "" plist
     (:kind required (member "unusable") "")
     (:message required string ""))
    (HttpToolServer "A tool server (MCP) at an address, over Streamable HTTP." plist
     (:type optional (member "http") "")
     (:url required string "")
     (:headers optional (map string) "Sent only to the origin of the address. The values appear in no log and no error.")
     (:clientId optional string "Our client id at its authorization server, if that server does not register clients itself.")
     (:disabled optional boolean "")
     (:enabled optional boolean ""))
    (InitializationOptions "What `initializationOptions` hold besides the settings." plist
     (:trusted optional boolean "False for a workspace that the user does not trust. Its settings can then change only what is harmless.")
     (:sendsUserSettings optional boolean "True: while the workspace is not trusted, this client sends only the user's own settings and leaves out those of the workspace. They then take effect at once.")
     (:refusedTools optional (vector ToolRefusal) "What an earlier daemon of the same session sent with `runner/tools/didRefuse`.")
     (:approvals optional Approvals "Tools that run without a question. The settings have no such key, because a workspace may write settings.")
     (:builtinTools optional boolean "True: models may be offered the built-in tools, which read and edit files of the workspace. The settings have no such key, because a workspace may write settings.")
     (:checks optional Checks "Commands that models may run. The settings have no such key, because a workspace may write settings.")
     (:rounds optional integer "Rounds of tool calls in one turn.")
     (:agentContext optional integer "Tokens of the window to request for a turn with the built-in tools if nobody has chosen one.")
     (:projectRules optional boolean "False: models with the built-in tools get no rules from files.")
     (:host optional string "Default: `OLLAMA_HOST`, else `defaultHost`.")
     (:api optional RunnerApi "Which API the runner at `host` speaks.")
     (:servers optional (vector ServerOptions) "")
     (:chatModel optional string "The model that answers in a chat if nobody chooses another one.")
     (:completionModel optional string "The model of inline completion.")
     (:streamLogs optional boolean "True lets the daemon start the server logs after `initialized`.")
     (:logLevel optional LogLevel "")
     (:cacheDir optional string "An absolute path of a folder for what may be kept between runs.")
     (:modelfilesPath optional string "")
     (:keepAlive optional (or string number) "How long a model stays loaded after an answer: seconds, or a duration such as `10m`. A negative value means for ever.")
     (:contextLength optional integer "Tokens of the window (`num_ctx`) to request; 0 leaves it to the runner.")
     (:modelCapabilities optional (map ModelOverride) "By the names of models. A name without a tag stands for all its tags; one with a tag counts before it.")
     (:catalogUrl optional string "Base address of the public catalog.")
     (:exclude optional (vector string) "Globs of files that are never sent. Files that look like secrets are never sent either.")
     (:caFile optional string "For the server at `host`; every other server has its own.")
     (:timeouts optional Timeouts "")
     (:keepSessions optional boolean "False: no conversation is written to the disk or listed.")
     (:sessionDays optional integer "A conversation is deleted after this many days without a turn.")
     (:engine optional EngineSettings "For what Runner starts on this machine.")
     (:mcpServers optional ToolServers "Tool servers. They override those of `initializationOptions` with the same name. A wrong entry does not affect the others."))
    (InlineCompletionItem "" plist
     (:insertText required string "")
     (:range required TextRange "Starts at the cursor. It is empty, or covers closers that `insertText` repeats. If an item of the editor's list is selected, it starts where that item's range starts.")
     (:command required InlineCompletionItemCommand "`completionAcceptedCommand`."))
    (InlineCompletionItemCommand "" plist
     (:title required string "")
     (:command required string "")
     (:arguments required (vector CompletionAcceptedParams) ""))
    (InlineCompletionList "" plist
     (:items required (vector InlineCompletionItem) ""))
    (InlineCompletionParams "The part of LSP's `InlineCompletionParams` that the daemon reads." plist
     (:context optional InlineCompletionParamsContext "")
     (:textDocument required InlineCompletionParamsTextDocument "")
     (:position required TextPosition ""))
    (InlineCompletionParamsContext "" plist
     (:triggerKind required integer "1: the user asked for it. 2: the editor asked while the user typed.")
     (:selectedCompletionInfo optional SelectedCompletionInfo "The suggestion continues this text and replaces its range."))
    (InlineCompletionParamsTextDocument "" plist
     (:uri required string ""))
    (InstalledProgram "A program on this machine that is installed and can be started. It said itself what it is." plist
     (:product required (member "llama.cpp" "ollama") "")
     (:path required string "")
     (:version required string ""))
    (InvalidParamsData "The `data` of a `-32602` (invalid params) answer." plist
     (:path required string "What is wrong, such as `messages[0].role`.")
     (:problem required string "Why it is wrong, in words that follow a colon."))
    (ListChecksResult "" plist
     (:checks required (vector ListedCheck) ""))
    (ListModelsParams "" plist
     (:refresh optional boolean "True asks the runner even if the daemon has a fresh list.")
     (:examine optional boolean "True examines each model that may chat if its tool support is not known yet, up to 100 models.")
     (:everywhere optional boolean "True lists the models of all servers. A model of another server than the one at `host` has a name such as `box/qwen3:8b`, by which every request without a `server` finds it.")
     (:server optional string "A name of `servers`; absent means the server at `host`, whose name is `default`."))
    (ListModelsResult "" plist
     (:models required (vector Model) "")
     (:stale optional (member true) "The server is down, and this is the last known list.")
     (:leftOut optional integer "The number of models beyond the first 10,000, which a list is limited to.")
     (:problems optional (vector ListModelsResultProblemsItem) "With `everywhere`: the servers whose models are missing, with a sentence each."))
    (ListModelsResultProblemsItem "" plist
     (:server required string "")
     (:message required string ""))
    (ListPromptsParams "" plist
     (:commands optional (vector string) "Names of the client's own commands, which come before all prompts.")
     (:wait optional boolean "Waits for tool servers that are not ready, up to 15 s. By default they are started, and waited for a moment; what comes later is in the next list.")
     (:cwd optional string "The absolute path of the workspace; default: the root of the client's `initialize`."))
    (ListPromptsResult "" plist
     (:prompts required (vector Prompt) "In the order of their names; of several with one name, the one that counts comes first.")
     (:folder optional PromptFolder "Present if the workspace has such a folder with prompts.")
     (:problems required (vector string) "What is wrong beside single prompts, each a sentence."))
    (ListSessionsParams "" plist
     (:query optional string "All of its words must occur in the title or in the messages, in upper or lower case.")
     (:cwd optional string "Lists only conversations that were started in this folder.")
     (:limit optional integer "")
     (:cursor optional string "The `nextCursor` of the previous page."))
    (ListSessionsResult "" plist
     (:sessions required (vector Session) "Newest first.")
     (:nextCursor optional string "Present if there are more."))
    (ListSettingsResult "" plist
     (:path required string "The path of the user's own configuration, which may not exist.")
     (:settings required (vector EffectiveSetting) "In the order of docs/PROTOCOL.md. Those that only clients set are left out."))
    (ListToolsParams "" plist
     (:servers optional (vector string) "Names of tool servers. Absent means all of them."))
    (ListToolsResult "" plist
     (:servers required (vector ListedToolServer) "In the order of the entries."))
    (ListedCheck "A check of the project folder as it counts now." plist
     (:name required string "")
     (:folder required string "")
     (:command required (vector string) ""))
    (ListedTool "" plist
     (:name required string "The server's own name for the tool; the model may see another name.")
     (:title optional string "")
     (:description required string "What it does.")
     (:inputSchema required (map any) "A JSON Schema of an object.")
     (:annotations optional ToolAnnotations ""))
    (ListedToolServer "" plist
     (:name required string "")
     (:state required (member "ready" "failed" "disabled") "")
     (:message optional string "Why it failed, and what to do.")
     (:advice optional Advice "What can be done about it, if the message ends in that.")
     (:needsLogin optional boolean "It failed because nobody is logged in: `runner/tools/login`, which is `runner mcp login NAME` in a terminal.")
     (:tools required (vector ListedTool) ""))
    (LoadingState "" plist
     (:percent optional number "Absent if the server does not say it."))
    (LogLevel "" (member "debug" "info" "warn" "error"))
    (LogParams "" plist
     (:level required LogLevel "")
     (:source required (member "daemon" "server") "")
     (:message required string "")
     (:code optional (member "configuration" "setting" "token" "tool-server") "What a client may show beside its log: the user's configuration file is wrong, a changed setting is wrong, a token is not sent, or a tool server takes long to start.")
     (:refused optional InvalidParamsData "With `setting`: the setting, and why it stays as it was."))
    (LoginParams "" plist
     (:server required string "The name of a tool server at an address."))
    (LoginResult "" plist
     (:url required string "The address that the user's browser must open: https, or http on this machine.")
     (:redirectUrl required string "The address to which the browser is redirected at the end. The daemon listens there until the login ends."))
    (LogoutResult "" plist
     (:wasLoggedIn required boolean "")
     (:isRevoked required boolean "Whether the authorization server confirmed the revocation."))
    (Message "" plist
     (:role required Role "")
     (:content required string "In a user message: what the user typed, if the client can separate that from what it attaches.")
     (:attachments optional (vector Attachment) "In a user message: what the client attached. It is context, not something that the user wrote.")
     (:images optional (vector string) "Base64, without a `data:` prefix.")
     (:thinking optional string "")
     (:toolCalls optional (vector ToolCall) "Only in an assistant message.")
     (:toolCallId optional string "In a tool message: the `id` of the call that it answers.")
     (:toolName optional string "In a tool message: the name of the tool that answered."))
    (Model "" plist
     (:name required string "With its tag, such as `qwen3:8b`. Where models of all servers are listed, also such as `box/qwen3:8b`.")
     (:server required string "")
     (:size optional integer "Bytes on disk.")
     (:digest optional string "64 hexadecimal digits.")
     (:modifiedAt optional string "")
     (:family required string "The daemon's own grouping, by the prefix of the name.")
     (:details optional ModelDetails "")
     (:capabilities required ModelCapabilities "")
     (:context required ContextLength "")
     (:remote optional ModelRemote "Set for a model whose requests the runner forwards to another host.")
     (:running optional RunningState "")
     (:thinkingLevels optional (member false) "False if it can be told whether to think, but not how much: it has refused a level.")
     (:loading optional LoadingState "Set while the server loads the model, as far as the server says so."))
    (ModelCapabilities "" plist
     (:thinking required Capability "")
     (:completion required Capability "")
     (:tools required Capability "")
     (:vision required Capability "")
     (:insert required Capability "")
     (:embedding required Capability ""))
    (ModelDetails "" plist
     (:family required string "The server's own family, such as `qwen2`.")
     (:parameterSize required string "Such as `3.1B`.")
     (:quantization required string "Such as `Q4_K_M`."))
    (ModelOverride "What the user says that a model can do or cannot do. What is absent is learnt as usual." plist
     (:tools optional boolean "")
     (:vision optional boolean "")
     (:thinking optional boolean "")
     (:insert optional boolean ""))
    (ModelParams "" plist
     (:model required string "")
     (:server optional string "A name of `servers`; absent means the server at `host`, whose name is `default`."))
    (ModelRemote "" plist
     (:host required string "")
     (:model required string ""))
    (ModelfileCommand "" plist
     (:command required string "In lower case, such as `parameter`.")
     (:args required (vector string) "")
     (:range required TextRange ""))
    (ModelfileDiagnostic "" plist
     (:range required TextRange "")
     (:message required string "")
     (:severity required (member 1 2 3 4) "As in LSP: 1 error, 2 warning, 3 information, 4 hint."))
    (Notice "" plist
     (:code required NoticeCode "")
     (:message required string "A sentence for the user.")
     (:advice optional Advice ""))
    (NoticeCode "- `tools-disabled`: The model does not support tools. They are left out now and for the rest of the session. - `tool-choice-ignored`: `toolChoice: \"required\"` was treated as `auto`, because the server knows no other way. - `images-dropped`: The model cannot see images, so they were left out. - `context-nearly-full`: The prompt fills at least 90 % of the window. - `context-exceeded`: The answer was cut because the window is full. - `context-reduced`: The request asked for a larger window than the model can have. - `window-asked`: The model is asked for a larger window than it has by itself, because built-in tools need room. - `window-small`: The window is small for work with the built-in tools. - `rules-cut`: The rules of the project or of the user do not fit into their share of the window, or cannot be read. - `rules-untrusted`: The rules of the project are left out, because the workspace is not trusted. - `tools-too-large`: The tools take more than a quarter of the window. - `results-removed`: Old results of tools were removed from the prompt, because there was no room for them. - `edit-forgiven`: An edit was made although its model copied the old text badly. - `answer-loops`: The model repeated a text without end, so its answer was stopped. - `thinking-unsupported`: The request asked for thinking, but the model has no thinking mode. - `tool-call-recovered`: A tool call that the model wrote as text was taken as a call. - `tool-call-malformed`: A tool call that the model wrote as text, or at the end of its thinking, does not count. It stays there. - `tool-schemas-simplified`: The server refused the schemas of these tools, so the model got simpler ones. - `tools-unavailable`: Tool servers that did not start were left out of the turn. - `waiting-for-slot`: All slots of the server are busy, so the answer begins when another one has ended. - `model-loading`: The model is being loaded; the answer follows. - `format-not-held`: The answer is not in the `format` of the request: no JSON, cut, or not as the schema says. - `edit-without-block`: Only of an edit: the model marked no lines as the new ones, so its whole answer is taken. - `history-missing`: The conversation has turns of which the client has sent none, so the model has not seen them. - `answer-lost`: The runner counted tokens but sent nothing: what the model said was lost in the runner. - `answer-empty`: The model has stopped without an answer, perhaps after it had thought. - `private-files-left-out`: The client had added private files by itself: files that look like secrets or are excluded. Only names are sent. - `private-files-sent`: The user attached private files. They are sent. - `session-not-kept`: The turn could not be appended to its conversation on the disk." (member "tools-disabled" "tool-choice-ignored" "images-dropped" "context-nearly-full" "context-exceeded" "context-reduced" "window-asked" "window-small" "rules-cut" "rules-untrusted" "tools-too-large" "results-removed" "edit-forgiven" "answer-loops" "thinking-unsupported" "tool-call-recovered" "tool-call-malformed" "tool-schemas-simplified" "tools-unavailable" "waiting-for-slot" "model-loading" "format-not-held" "edit-without-block" "history-missing" "answer-lost" "answer-empty" "private-files-left-out" "private-files-sent" "session-not-kept"))
    (ParameterValue "" (or string number boolean))
    (ParseModelfileParams "" plist
     (:text required string ""))
    (ParseModelfileResult "" plist
     (:commands required (vector ModelfileCommand) "")
     (:diagnostics required (vector ModelfileDiagnostic) ""))
    (PartProgress "One part of some work: a layer that is downloaded, or a file that is hashed and uploaded." plist
     (:name required string "The first twelve digits of a layer's digest, or the name of a file.")
     (:completed required integer "Bytes. It may fall when the runner starts a layer again.")
     (:total required integer "Bytes."))
    (ProbeCatalogParams "As it would stand in `catalogUrl`." plist
     (:url required string ""))
    (ProbeParams "" plist
     (:url required string "As the user typed it, in any form that `OLLAMA_HOST` may have.")
     (:server optional string "A name of `servers`; absent means the server at `host`, whose name is `default`."))
    (ProbeResult "" plist
     (:version required string "Empty if the runner has none.")
     (:product required Product ""))
    (Product "The programs that can run models, as far as they differ for a user." (member "ollama" "llama.cpp" "lmstudio" "vllm" "other"))
    (ProgressParams "" plist
     (:token required ProgressToken "")
     (:value required WorkProgress ""))
    (ProgressToken "LSP's token of work-done progress." (or string number))
    (Prompt "A prompt that the user or a workspace keeps under a name, or that a tool server (MCP) offers." plist
     (:name required string "What is typed behind the slash, such as `review`; of a tool server, its name comes before: `git:review`.")
     (:description required string "One line; may be empty.")
     (:from required (member "user" "workspace" "server") "")
     (:server optional string "The name of the tool server, as it is entered.")
     (:path optional string "The absolute path of its file.")
     (:arguments required (vector PromptArgument) "")
     (:model optional string "The model that answers it. Only a prompt of the user has one.")
     (:tools optional (vector string) "Names of the tool servers whose tools the model may call for it. Only a prompt of the user has them.")
     (:problem optional string "Why it cannot be used, and what to do.")
     (:line optional integer "Where the problem is in the file, counted from 1.")
     (:hiddenBy optional (member "command" "prompt") "Its name leads elsewhere: to a command of the client, or to a prompt that comes before it."))
    (PromptArgument "" plist
     (:name required string "One word. In a file it is a letter, and then letters, digits, `_` or `-`, and stands in the text as `{{name}}`.")
     (:description optional string "")
     (:required optional boolean "Absent or false: without a value, nothing stands in its place."))
    (PromptFolder "The `.runner/prompts` of a workspace. Its prompts count only once the user has allowed them, and while the workspace is trusted." plist
     (:path required string "Its absolute path.")
     (:state required (member "unasked" "allowed" "refused" "untrusted") "")
     (:files required integer "How many prompts it has."))
    (PullModelParams "" plist
     (:model required string "")
     (:server optional string "A name of `servers`; absent means the server at `host`, whose name is `default`.")
     (:workDoneToken optional ProgressToken "Without it the daemon makes a token, if the editor has `window.workDoneProgress`."))
    (PullModelResult "" plist
     (:model required string ""))
    (ReadSessionParams "" plist
     (:open optional boolean "True if the conversation is to be continued. If another process has it open, the answer is the error `busy` at once.")
     (:id required string ""))
    (ReadSessionResult "" plist
     (:session required Session "")
     (:messages required (vector SessionMessage) "")
     (:settings optional ConversationSettings "Absent if no turn had any, and in conversations of earlier versions.")
     (:cleared optional ClearedParts "What was removed from its prompts to save room. The messages are all there."))
    (RedoEditsParams "" plist
     (:session required string "The `id` of a kept conversation."))
    (ResourceWord "A resource of a tool server, or the beginning of some, as it is typed." plist
     (:word required string "Without the `@`, such as `team:` or `team:memo://1`.")
     (:description optional string "One line."))
    (RestoredEdits "" plist
     (:restored required (vector string) "The names of the files.")
     (:left required (vector RestoredEditsLeftItem) "Files that are not as the edits left them, and stay. `reason` is a sentence."))
    (RestoredEditsLeftItem "" plist
     (:name required string "")
     (:reason required string ""))
    (Role "" (member "system" "user" "assistant" "tool"))
    (RunModelParams "" plist
     (:keepAlive optional (or string number) "")
     (:model required string "")
     (:server optional string "A name of `servers`; absent means the server at `host`, whose name is `default`."))
    (RunModelResult "" plist
     (:model required Model ""))
    (RunnerApi "Which API a runner speaks. `auto` asks it, and asks again after its connection was lost." (member "auto" "ollama" "openai"))
    (RunnerCapabilities "What `runnerd` adds to the `initialize` result under `capabilities.experimental.runner`." plist
     (:protocolVersion required integer "")
     (:isHostNamed optional boolean "True if an option, the environment or the user's configuration names the runner's address; otherwise the default address is used.")
     (:toolServers optional (vector string) "Names of the tool servers in the user's own configuration, in their order, without the disabled ones. Empty if the client has settings of its own."))
    (RunningModelsResult "" plist
     (:models required (vector Model) ""))
    (RunningState "" plist
     (:expiresAt required string "")
     (:size required integer "Bytes of memory.")
     (:sizeVram required integer "The part of it on the GPU, in bytes."))
    (SearchFilesParams "" plist
     (:text required string "The user's question. Its words are looked for, but not those that every question has.")
     (:cwd required string "The absolute path of the folder whose files are searched.")
     (:tokens required integer "The most tokens that the excerpts may have together, estimated."))
    (SearchFilesResult "" plist
     (:files required (vector FoundFile) "Excerpts, best first. Their attachments have `lines`, and are `automatic`.")
     (:notes required (vector string) "Sentences for the user: what was not searched."))
    (SecretLine "One line of the newline-delimited JSON on the descriptor of `runnerd --secrets-fd N`. A later line for an origin replaces an earlier one. A secret is sent to its own origin only. Over plain http it is sent only to loopback, or to a runner if `allowPlainHttp` is true." plist
     (:origin required string "Scheme, host and port, such as `https://models.example.org:8443`.")
     (:secret required (or string null) "Sent as `Authorization: Bearer …`, or as `Basic …` if it has the form `user:password` and the server asks for that; `null` forgets it.")
     (:headers optional (map string) "More headers for this origin.")
     (:allowPlainHttp optional boolean "The user has allowed that a runner at this origin gets the secret over plain http."))
    (SelectedCompletionInfo "As in LSP: the item that is selected in the editor's own list of completions, and what it would replace." plist
     (:range required TextRange "")
     (:text required string ""))
    (ServerOptions "A runner besides the one at `host`." plist
     (:name required string "Unique. The name `default` belongs to the server at `host`.")
     (:url required string "Scheme, host, port and an optional path prefix.")
     (:caFile optional string "An absolute path to a PEM file with certificates to trust for this server.")
     (:api optional RunnerApi "Which API it speaks."))
    (ServerParams "What every request about a runner takes in addition to its own parameters." plist
     (:server optional string "A name of `servers`; absent means the server at `host`, whose name is `default`."))
    (ServerStatus "A configured server and its status." plist
     (:name required string "")
     (:url required string "Its base address.")
     (:status required Status "Of a server that does not answer in time: `offline`."))
    (ServersResult "" plist
     (:servers required (vector ServerStatus) ""))
    (Session "A conversation that is kept in the user's state folder." plist
     (:id required string "Eight digits, a hyphen, and eight letters or digits.")
     (:title required string "The title that was set, else the first line of the first prompt, at most 60 characters. Empty before the first prompt.")
     (:cwd optional string "The absolute path of the folder in which it was started.")
     (:model optional string "The model that was asked last.")
     (:createdAt required string "")
     (:updatedAt required string "")
     (:turns required integer "How many prompts of the user it holds.")
     (:kept optional (member false) "False if it is not on the disk: its messages are in the daemon's memory, until it is closed."))
    (SessionMessage "A message as it is kept. The added fields are ignored when it is sent as history in the `messages` of a chat." plist
     (:at optional string "When it was written.")
     (:model optional string "In an answer: the model that gave it.")
     (:partial optional (member "cancelled" "failed") "In an incomplete answer: it was cancelled, or it failed.")
     (:role required Role "")
     (:content required string "In a user message: what the user typed, if the client can separate that from what it attaches.")
     (:attachments optional (vector Attachment) "In a user message: what the client attached. It is context, not something that the user wrote.")
     (:images optional (vector string) "Base64, without a `data:` prefix.")
     (:thinking optional string "")
     (:toolCalls optional (vector ToolCall) "Only in an assistant message.")
     (:toolCallId optional string "In a tool message: the `id` of the call that it answers.")
     (:toolName optional string "In a tool message: the name of the tool that answered."))
    (SessionParams "" plist
     (:id required string ""))
    (SetHostParams "" plist
     (:url required string "As the user typed it, in any form that `OLLAMA_HOST` may have."))
    (SetHostResult "" plist
     (:path required string ""))
    (SetModeParams "" plist
     (:streamId required string "")
     (:mode required AgentMode ""))
    (ShowModelResult "" plist
     (:model required Model "")
     (:template optional string "")
     (:parameters optional (map (or string number (vector ParameterValue) boolean)) "By name: a value, or an array if the parameter is repeated.")
     (:system optional string "")
     (:license optional string "")
     (:modelfile optional string ""))
    (StartLogsResult "" plist
     (:source required string "The path or the command that the lines come from."))
    (Status "" plist
     (:state required (member "checking" "online" "busy" "offline") "")
     (:kind required (member "ok" "warning" "error") "")
     (:message required string "A sentence for the user.")
     (:version optional string "The runner's version, if known.")
     (:product optional Product "What answers there; absent as long as nothing has.")
     (:can optional (vector Ability) "")
     (:command optional StatusCommand "The command that would solve the problem.")
     (:advice optional Advice ""))
    (StatusCommand "" plist
     (:title required string "")
     (:command required string "")
     (:arguments optional (vector any) ""))
    (StdioToolServer "A tool server (MCP) that the daemon starts. They communicate over the server's standard input and output." plist
     (:command required string "")
     (:args optional (vector string) "")
     (:env optional (map string) "Added to what every server inherits. The values appear in no log and no error.")
     (:cwd optional string "Default: the workspace's root, else `HOME`.")
     (:disabled optional boolean "")
     (:enabled optional boolean ""))
    (SuggestChecksResult "" plist
     (:suggestions required (vector SuggestedCheck) ""))
    (SuggestedCheck "What a file of the project suggests." plist
     (:file required string "The name of the file, in the folder.")
     (:hash required string "Of the whole file: with another content it is another suggestion.")
     (:name required string "")
     (:folder required string "")
     (:command required (vector string) ""))
    (TextPosition "As in LSP: both count from 0, characters in UTF-16 code units." plist
     (:line required integer "")
     (:character required integer ""))
    (TextRange "" plist
     (:start required TextPosition "")
     (:end required TextPosition ""))
    (ThinkLevel "" (member "low" "medium" "high" "max"))
    (Timeouts "Time limits in milliseconds; 0 means no limit." plist
     (:connect optional integer "To open a connection.")
     (:list optional integer "For a whole short answer such as a list.")
     (:firstByte optional integer "Until a chat's first byte, which leaves time to load a model.")
     (:idle optional integer "Between two reads of a stream.")
     (:tool optional integer "For a call that the daemon runs, as long as it reports no progress.")
     (:toolTotal optional integer "For such a call in total.")
     (:toolStart optional integer "For the start of a tool server. It goes on after that, and is there for the next turn."))
    (Tool "" plist
     (:name required string "")
     (:description required string "")
     (:inputSchema required (map any) "A JSON Schema of an object."))
    (ToolAnnotations "What a server says about a tool. It is shown but decides nothing, because the server may say anything." plist
     (:title optional string "")
     (:readOnlyHint optional boolean "")
     (:destructiveHint optional boolean "")
     (:idempotentHint optional boolean "")
     (:openWorldHint optional boolean ""))
    (ToolCall "" plist
     (:id required string "")
     (:name required string "")
     (:arguments required (map any) ""))
    (ToolCapabilities "What a client announces about itself as `capabilities.experimental.runner`." plist
     (:protocolVersion optional integer "The version of this protocol that the client needs. A daemon that does not speak it refuses `initialize`.")
     (:approvesTools optional boolean "The client answers `runner/tools/approve`. Otherwise the daemon runs only what `approvals` allow.")
     (:elicits optional boolean "The client answers `runner/tools/elicit`. Otherwise no tool server is told that it can ask the user.")
     (:showsDiffs optional boolean "The client shows `diff` with its question. Otherwise no model is offered the built-in tool that edits files.")
     (:decisions optional (vector (member "answer" "stop")) "Which of the later decisions the client can give.")
     (:folder optional string "An absolute path: the folder that the built-in tools use if the client has no workspace, as in a terminal."))
    (ToolDecision "`session` applies until the daemon ends, `always` until the tool's description or schema changes. `answer` applies to all edits of this chat. `stop` denies the call and ends the chat as cancelled. The last two are offered only for edits, and only to a client whose `ToolCapabilities.decisions` name them." (member "once" "session" "always" "answer" "deny" "stop"))
    (ToolProgress "" plist
     (:streamId required string "The `streamId` of the chat.")
     (:id required string "The `id` of the call.")
     (:progress required number "Grows with each report.")
     (:total optional number "What `progress` reaches at the end, if the server knows it.")
     (:message optional string "What the server is doing."))
    (ToolRefusal "A model that refused tools. It gets no tools for the rest of the editor's session." plist
     (:url required string "The address of its server.")
     (:model required string "")
     (:digest optional string "The model's digest at the time. With another digest it is another model, and the refusal is forgotten."))
    (ToolRefusals "" plist
     (:refusals required (vector ToolRefusal) ""))
    (ToolResult "The outcome of a call that the daemon ran or refused, as the model reads it." plist
     (:id required string "The `id` of the call.")
     (:name required string "The name by which the model knows the tool.")
     (:server required string "The tool's server; empty if no tool of a tool server has this name.")
     (:content required string "At most 32,000 characters.")
     (:isError required boolean "The call failed, was denied, or had arguments that the tool does not take. The content says why.")
     (:output optional string "How a check ended and what it has written, if the content has only a part of that: about 256 Ki characters at most, without escape sequences, overwritten lines and repeats.")
     (:diff optional FileDiff "What the call has changed, if nobody was asked about it. Only a client with `showsDiffs` gets it.")
     (:images optional (vector string) "Base64. In the content, `[image, …]` stands for each of them.")
     (:unapprovedTool optional string "The server's own name of the tool, if the call was not run because `approvals` do not allow it and nobody could be asked."))
    (ToolServers "Tool servers by name." (map (or StdioToolServer HttpToolServer)))
    (TrustParams "" plist
     (:trusted required boolean ""))
    (UndoTurnResult "" plist
     (:session required Session "")
     (:prompt optional Message "The prompt that was taken out, with what was attached to it. Absent if there was no turn."))
    (UpdateSessionParams "" plist
     (:title required string "One line.")
     (:id required string ""))
    (UpdateSessionResult "" plist
     (:session required Session ""))
    (Usage "Tokens as the runner counted them; 0 if it gave no count." plist
     (:promptTokens required integer "")
     (:completionTokens required integer "")
     (:contextLength optional integer "Tokens of the allocated window, if known."))
    (WorkDoneParams "Parameters of a request that reports work-done progress." plist
     (:workDoneToken optional ProgressToken "Without it the daemon makes a token, if the editor has `window.workDoneProgress`."))
    (WorkEnd "" plist
     (:kind required (member "end") "")
     (:message optional string ""))
    (WorkProgress "The values of work-done progress as in LSP, plus what a client needs to draw more than one bar. There are at most ten reports a second. Each holds the whole current state, so a lost one does no harm." (or WorkProgressBegin WorkProgressReport WorkEnd))
    (WorkProgressBegin "" plist
     (:kind required (member "begin") "")
     (:title required string "Such as `Pulling qwen3:4b`.")
     (:cancellable required (member true) "")
     (:percentage required (member 0) ""))
    (WorkProgressReport "" plist
     (:kind required (member "report") "")
     (:percentage optional number "It never falls, and it is absent while nothing can be counted.")
     (:message required string "What is happening, such as `Downloading: 1.2 of 4.7 GB`.")
     (:completed optional integer "Bytes of all parts that are known so far.")
     (:total optional integer "")
     (:parts optional (vector PartProgress) "In the order in which they started."))
    )
  "Each type: its name, what it is, and its fields or its values.")

(defun runner-protocol-describe (method)
  "Show what METHOD takes and returns, with the types in it."
  (interactive (list (completing-read "Method: " runner-protocol-methods nil t)))
  (let* ((row (or (assoc method runner-protocol-methods) (user-error "No such method")))
         (seen nil)
         (wanted (list (nth 3 row) (nth 4 row))))
    (with-help-window (help-buffer)
      (princ (format "%s, a %s from the %s\n\n%s\n\nparameters: %s\nresult: %s\n" method (nth 2 row) (nth 1 row)
                     (nth 5 row) (nth 3 row) (nth 4 row)))
      (while wanted
        (let* ((name (pop wanted)) (type (and (symbolp name) (assq name runner-protocol-types))))
          (cond ((consp name) (setq wanted (append (flatten-tree name) wanted)))
                ((and type (not (memq name seen)))
                 (push name seen)
                 (princ (format "\n%s  %s\n" name (nth 1 type)))
                 (dolist (part (cddr type))
                   (cond ((and (consp part) (keywordp (car part)))
                          (princ (format "  %s %s %s  %s\n" (car part) (nth 1 part) (nth 2 part) (nth 3 part)))
                          (push (nth 2 part) wanted))
                         ((not (eq part 'plist)) (princ (format "  %s\n" part)) (push part wanted)))))))))))

(provide 'runner-protocol)
;;; runner-protocol.el ends here
