// Package anthropic is the adapter for endpoints that speak Anthropic's Messages API.
//
// The package encodes the request and decodes the answer itself, as package openai does and
// for the same reasons. It does not retry.
//
// # What a request carries
//
// The fixed part (model, limit of the output, system, tools) precedes the conversation,
// and a request for a longer conversation extends the one for a shorter one byte for byte,
// up to the closing brackets.
//
//   - Instructions are the one block of system.
//   - Adjacent items of one side are one message. Results stand first in a
//     message of the user's; files, notes and what the user says are further blocks.
//   - The wire knows no role besides user and assistant. Project instructions and files are
//     sent in a frame, whatever Setup.FileRefRole says, and what podd, an interceptor or a
//     note adds has a first line "[podd note: ORIGIN]".
//   - Thinking goes back as it came, with its signature and in its place. An answer
//     cannot end with it, so thinking after the last text or call is left out.
//   - Text of white space alone is left out, because the API refuses it.
//   - The cache marks never move: one is at the top level and marks the last block of
//     whatever is sent, the other is at the end of system.
//   - Arguments that are not a JSON object are sent as {}. Ids with characters that the API
//     refuses, which other APIs give, are sent as a hash.
package anthropic
