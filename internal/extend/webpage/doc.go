// Package webpage gets one page of the web and turns it into text for a model.
//
// It owns which addresses may be reached, how a page is fetched and how HTML becomes
// Markdown. A request carries no cookie, no credential and no referrer. podd itself sends
// it, outside of any sandbox, so this package has the guard against private addresses: it
// checks the address that is dialed, not the name, which can resolve to a router and change
// between a check and a connection. Behind an HTTP proxy, which looks the name up again, it
// does not notice such a change.
//
// Rank 0: it imports no other package of podd. It is the home of html-to-markdown and
// golang.org/x/net. A Fetcher is safe for concurrent use.
package webpage
