" The colours of Modelfiles. Editors read this in Vim's own language, which has no other interface to it.
if exists('b:current_syntax')
  finish
endif
let s:cpo = &cpo
set cpo&vim

" Only the first of a line makes a comment or a command; quotes close where they are the last of a line.
syn case match
syn match modelfileComment /^\s*#.*/ contains=modelfileTodo,@Spell
syn keyword modelfileTodo contained TODO FIXME XXX

" The commands of the daemon's daemon/modelfile/vocabulary.ts, by what they take.
syn match modelfileCommand /^\s*\zs\c\%(from\|adapter\|draft\)\ze\s/ nextgroup=modelfileString,modelfileSource skipwhite
syn match modelfileCommand /^\s*\zs\c\%(renderer\|parser\|requires\)\ze\s/ nextgroup=modelfileString,modelfileWord skipwhite
syn match modelfileCommand /^\s*\zs\c\%(system\|license\)\ze\s/ nextgroup=modelfileText skipwhite
syn match modelfileCommand /^\s*\zs\c\%(template\)\ze\s/ nextgroup=modelfileTemplate,modelfileTemplateLine skipwhite
syn match modelfileCommand /^\s*\zs\c\%(message\)\ze\s/ nextgroup=modelfileRole skipwhite
syn match modelfileCommand /^\s*\zs\c\%(parameter\)\ze\s/ nextgroup=modelfileParameter,modelfileUnknown skipwhite

syn match modelfileSource /[^" \t].*/ contained
syn match modelfileWord /[^" \t].*/ contained

" The longest quotes come last: of two that begin in one place the later one counts.
syn region modelfileString start=/"/ end=/"\s*$/ contained
syn region modelfileString start=/"""/ end=/"""\s*$/ contained
syn region modelfileText start=/"/ end=/"\s*$/ contained contains=@Spell
syn region modelfileText start=/"""/ end=/"""\s*$/ contained contains=@Spell

syn keyword modelfileRole system user assistant contained nextgroup=modelfileText skipwhite

" Their names are read as they stand, unlike those of commands.
syn match modelfileUnknown /\S\+/ contained nextgroup=@modelfileValue skipwhite
syn keyword modelfileParameter contained nextgroup=@modelfileValue skipwhite
  \ num_ctx temperature top_k top_p min_p typical_p stop num_predict seed repeat_penalty repeat_last_n
  \ presence_penalty frequency_penalty num_keep num_batch num_gpu main_gpu num_thread draft_num_predict use_mmap
syn cluster modelfileValue contains=modelfileString,modelfileNumber,modelfileBoolean
syn match modelfileNumber /[+-]\=\%(\d\+\.\=\d*\|\.\d\+\)\%([eE][+-]\=\d\+\)\=\ze\s*$/ contained
syn match modelfileBoolean /\<\%(true\|false\)\ze\s*$/ contained

" A template, and in it the actions of Go's template language. What an action leaves open ends with the template.
syn region modelfileTemplate start=/"/ end=/"\s*$/ contained keepend contains=modelfileAction
syn region modelfileTemplate start=/"""/ end=/"""\s*$/ contained keepend contains=modelfileAction
syn match modelfileTemplateLine /[^" \t].*/ contained keepend contains=modelfileAction
syn region modelfileAction matchgroup=modelfileDelimiter start=/{{-\=/ end=/-\=}}/ contained
  \ contains=modelfileKeyword,modelfileFunction,modelfileField,modelfileVariable,modelfileQuoted,modelfileConstant,modelfileActionComment
syn keyword modelfileKeyword if else end range with define template block break continue contained
syn keyword modelfileFunction and or not eq ne lt le gt ge len index slice print printf println call html js urlquery
  \ json currentDate yesterday toTypeScriptType contained
syn keyword modelfileConstant true false nil contained
syn match modelfileConstant /[+-]\=\<\d\+\%(\.\d\+\)\=\>/ contained
syn match modelfileField /\.\h\w*/ contained
syn match modelfileVariable /\$\w*/ contained
syn region modelfileQuoted start=/"/ skip=/\\./ end=/"/ oneline contained
syn region modelfileQuoted start=/`/ end=/`/ contained
syn region modelfileActionComment start=+/\*+ end=+\*/+ contained

" A value may begin far above.
syn sync fromstart

hi def link modelfileComment Comment
hi def link modelfileTodo Todo
hi def link modelfileCommand Statement
hi def link modelfileSource Type
hi def link modelfileWord Constant
hi def link modelfileString String
hi def link modelfileText String
hi def link modelfileRole Constant
hi def link modelfileParameter Identifier
hi def link modelfileNumber Number
hi def link modelfileBoolean Boolean
hi def link modelfileTemplate String
hi def link modelfileDelimiter Special
hi def link modelfileKeyword Keyword
hi def link modelfileFunction Function
hi def link modelfileField Identifier
hi def link modelfileVariable Identifier
hi def link modelfileQuoted String
hi def link modelfileConstant Constant
hi def link modelfileActionComment Comment

let b:current_syntax = 'modelfile'
let &cpo = s:cpo
unlet s:cpo
