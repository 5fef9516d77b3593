// Package mcp is podd's client of the Model Context Protocol: it starts servers or calls
// them over HTTP, knows what they offer, and turns their tools into tools of pods.
//
// A server is a program that the user configured. It runs without a sandbox, with an
// explicit environment. Its output is data: bounded, and without invisible characters. A
// tool needs approval if it has changed since it was first seen, or since a person last
// approved a call of it.
//
// One server runs per definition and workspace, from its first use until it has been idle
// for a while. If it ends, hangs or breaks the protocol, podd ends it with everything that
// it started, raises one alert, and starts it again at the next use, after a growing pause.
// It never fails a pod.
//
// The connections (the pipes of a process, HTTP with its streams) are this package's own; the
// MCP SDK does the handshake, requests, cancelling and the types. The SDK's transports read
// strictly and share fate: a log line in JSON, an unknown block of content or a closed optional
// stream would end a connection with every call, and the body of an HTTP error is lost.
//
// podd asks a server for the newest version of the protocol first, and greets one that does not know it as before. What the newest
// version adds is the SDK's: rounds of questions, lists that last a while, and the headers of requests.
//
// During a call a server can ask a person: a form of the call, see [tool.Invocation.Ask], whose answer goes back to the server.
//
// A person signs in by the SDK. podd itself stores, renews and revokes the tokens: the SDK keeps
// none, opens a browser at each 401, names no resource when it renews, and revokes nothing.
//
// A Manager's methods may be called from any goroutine. Close waits for everything that it
// started. This package is the home of the MCP SDK.
package mcp
