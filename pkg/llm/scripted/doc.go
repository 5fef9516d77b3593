// Package scripted is a model that follows a script. It serves OpenAI's APIs and
// Anthropic's over real HTTP on loopback: POST /v1/responses, POST /v1/chat/completions,
// POST /v1/messages and GET /v1/models. Tests, the demo and plugin development use it through the same client as a
// real endpoint.
//
// It keeps no conversation. The answer depends only on the request, so one server serves
// many pods and survives a restart of either side. Like the real endpoints, it refuses a
// request that breaks the rules of the APIs, such as a tool call without its one result
// or, in the Messages API, thinking with another signature.
//
// # Scripts
//
// A script consists of lines. Blank lines and lines that begin with # are ignored. A line
// that begins with "| " continues the text or the arguments of the previous line.
//
//	# before the first step
//	model NAME [JSON]     a model that is listed and known; others are refused.
//	                      None: "scripted" is listed and any name is known. The list
//	                      also has the members of the JSON object
//	delay 15ms            between the chunks of an answer; default none
//
//	# the steps: answers, in order
//	step
//	expect user "fix"     what the request must hold, else it is refused with a
//	                      sentence: user (the last user message), tool (a result
//	                      since the last answer), system (the instructions), body
//	reasoning I should look first.
//	text I will read it.
//	| And then edit it.
//	call read_file {"path": "main.go"}
//	call shell
//	| {"command": "go test ./..."}
//
//	# steps for the conversations that continue from a message with this text
//	on "thanks"
//	step
//	text You are welcome.
//
//	# the one answer to everything else
//	otherwise
//	text I only follow a script.
//
// A step's parts stream in their order. Further lines of a step:
//
//	rawcall NAME TEXT                  a call whose arguments may be malformed
//	pause 2s                           silence in the middle of the answer
//	cut, reset, stall                  the answer ends here: the body without its
//	                                   end, the connection reset, silence until
//	                                   the client goes away
//	fail 429 code=C retry-after=2 TEXT an error in place of an answer
//	html                               a web page in place of an answer
//	stop length                        or filter: why the answer stopped
//	usage input=9 cached=4 output=2 reasoning=1, or: usage none
//
// cut, reset, stall, fail and html take times=N: the first N times (default 1) that
// exactly this request comes; after that the answer is whole. times=0: always.
//
// Which step answers: the last user message that an "on" matches selects the branch, and
// the number of answers since then is the position in it. Without a match the steps
// before the first "on" answer, by the number of answers in the conversation. After the
// last step "otherwise" answers.
//
// Unless a step says otherwise, usage is a quarter of the bytes, and the part that a
// request shares with a recent one is cached.
package scripted
