// Package mcp owns podd's side of the Model Context Protocol: servers that it starts or
// calls over HTTP, what they offer, and their tools as tools of pods.
//
// A server is a program that the user configured. It runs unconfined, with an environment
// that is an explicit list. What it says is data: bounded, and freed of what a person
// would not see. A tool is asked for again when it is not what it was when it was first
// seen, or when a person last agreed to a call of it.
//
// One server runs for each definition and workspace, from the first use on until it was
// idle for a while. One that ends, hangs or breaks the protocol is ended with all that it
// started, told of in one alert, and started again at the next use, after a pause that
// grows. It never fails a pod.
//
// A Manager's methods may be called from any goroutine. It waits in Close for all that it
// started. This package is the home of the MCP SDK.
package mcp
