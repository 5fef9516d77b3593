// Package spending holds what all pods together spend on a calendar day to a limit. It
// counts the money of each request once its entry is stored, and pauses requests until the
// next day when the limit is reached.
//
// Logs are the source: at the start podd adds up the entries since midnight. What a log
// loses on that day, because its pod is deleted or old entries are purged, is first written
// to a file. A request counts for the local day of its entry. Entries that are dated later
// than today count too: a clock that goes back makes nothing cheaper.
//
// All methods may be called from any goroutine.
package spending
