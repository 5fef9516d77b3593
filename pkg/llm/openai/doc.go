// Package openai is the adapter for all endpoints that speak OpenAI's Responses or Chat
// Completions API: OpenAI itself, Ollama, vLLM, llama.cpp, OpenRouter and many others.
//
// The package encodes requests and decodes messages itself, because typed SDKs cost
// tens of times more and refuse shapes that real endpoints send. It does not retry.
// Packages encode and exchange have what it shares with other adapters; exchange reads the
// events of a stream with openai-go.
//
// # What a request carries
//
// The fixed part (model, options, tools, instructions) precedes the conversation, and the
// encoding of an item never depends on later items. So the request for a longer
// conversation extends the one for a shorter one byte for byte, up to the closing
// brackets, whenever the shorter one ends with something that a model answers: a user or
// system message or a tool result.
//
// Chat Completions:
//
//   - Instructions are the one system message, and the first. Templates of models
//     such as Qwen 3.5 and Gemma refuse a system message anywhere else, so what
//     podd, an interceptor or a note adds later is sent as the user's, under a
//     first line "[podd note: ORIGIN]".
//   - Messages of the user's role that follow each other are one message, with a
//     blank line between: templates of Mistral and Gemma want the roles to
//     alternate.
//   - The text and the calls of one step are one assistant message.
//   - Reasoning goes back as the endpoint gave it, mostly under a name of its own
//     (reasoning_content, reasoning, reasoning_details): DeepSeek and others answer
//     400 when it is missing in a tool loop. Quirks are kept in quirks.go.
//   - Models of the Mistral family refuse a user message right after a tool result
//     (a steered turn has one): they get a short assistant message between.
//
// Responses:
//
//   - Nothing is stored (store is false); reasoning items come back encrypted and
//     are sent again as they came, without the status that OpenAI refuses as input.
//   - What podd, an interceptor or a note adds has the role developer.
//
// Both:
//
//   - Project instructions and file references are the user's, in a frame whose
//     fence does not occur in their text, so that a workspace file cannot speak for
//     the operator. Setup.FileRefRole "system" sends file references plain, with
//     that role.
//   - Arguments of an earlier call that are not a JSON object are sent as {}: vLLM
//     and llama.cpp refuse the whole conversation otherwise, for ever. The call's
//     result says what was wrong with them.
package openai
