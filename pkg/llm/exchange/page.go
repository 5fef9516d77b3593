package exchange

import (
	"html"
	"strings"

	"podd/pkg/lazy"
)

// markup matches what a person does not see of a page.
var markup = lazy.Regexp(`(?is)<(script|style)\b.*?</(script|style)\s*>|<!--.*?-->|<[^>]*>?`)

// pageText is what a person reads on a page.
func pageText(page []byte) string {
	return strings.Join(strings.Fields(html.UnescapeString(markup().ReplaceAllString(string(page), " "))), " ")
}
