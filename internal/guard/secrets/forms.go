package secrets

import "strings"

// form is a well-known form of secrets. match examines the text at the trigger.
type form struct {
	trigger string
	match   func(text string, at int) span
}

// forms are the known forms. The prefixes and lengths are those that the services
// document for their keys; the lengths are minimums.
var forms = []form{
	key("sk-", 20, word+"-", varied),
	key("ghp_", 30, letters, nil), key("gho_", 30, letters, nil), key("ghu_", 30, letters, nil),
	key("ghs_", 30, letters, nil), key("ghr_", 30, letters, nil), key("github_pat_", 30, word, nil),
	key("glpat-", 20, word+"-", nil),
	key("AKIA", 16, upper, nil), key("ASIA", 16, upper, nil),
	key("xoxb-", 10, letters+"-", nil), key("xoxa-", 10, letters+"-", nil), key("xoxp-", 10, letters+"-", nil),
	key("xoxr-", 10, letters+"-", nil), key("xoxs-", 10, letters+"-", nil), key("xoxe-", 10, letters+"-", nil), key("xapp-", 10, letters+"-", nil),
	key("eyJ", 60, word+"-.", func(s string) bool { return strings.Count(s, ".") == 2 }),
	key("AIza", 35, word+"-", nil), key("hf_", 30, letters, varied), key("npm_", 36, letters, varied), key("podd_hook_", 64, letters, nil),
	{"-----BEGIN ", privateKey},
	{"uthorization", header}, {"UTHORIZATION", header}, {"pi-key", header}, {"PI-KEY", header}, {"pi-Key", header},
	{"earer ", bearer},
	{"://", userinfo},
}

// index maps each pair of bytes to an element of pairs, which has the forms whose
// triggers begin with that pair; the first element is empty. So one pass through a text
// finds all forms.
var index, pairs = indexForms()

func indexForms() (index [256][256]uint8, pairs [][]form) {
	pairs = [][]form{nil}
	for _, f := range forms {
		at := &index[f.trigger[0]][f.trigger[1]]
		if *at == 0 {
			*at = uint8(len(pairs))
			pairs = append(pairs, nil)
		}
		pairs[*at] = append(pairs[*at], f)
	}
	return index, pairs
}

// Sets of characters.
const (
	digits  = "0123456789"
	upper   = "ABCDEFGHIJKLMNOPQRSTUVWXYZ" + digits
	letters = "abcdefghijklmnopqrstuvwxyz" + upper
	word    = letters + "_"
	// token is RFC 6750's b64token, plus the characters of cookies and digests.
	token = word + "-.~+/=:"
	// pemBody is base64 with line ends as in PEM and string literals, and the headers of old
	// keys.
	pemBody = letters + "+/=,:- \\\r\n\t\"'"
)

// run is how many bytes of text, beginning at at, are in the set.
func run(text string, at int, set string) int {
	n := 0
	for at+n < len(text) && strings.IndexByte(set, text[at+n]) >= 0 {
		n++
	}
	return n
}

// behindWord says whether a word continues at a place, so that nothing begins there.
func behindWord(text string, at int) bool {
	return at > 0 && strings.IndexByte(word, text[at-1]) >= 0
}

// key is a form with a prefix and a minimum number of characters of a set after it. is,
// if not nil, says whether they look like a key.
func key(prefix string, least int, set string, is func(string) bool) form {
	return form{prefix, func(text string, at int) span {
		if behindWord(text, at) {
			return span{no: true}
		}
		start := at + len(prefix)
		sp := span{start: at, end: start + run(text, start, set), from: at}
		sp.open = sp.end == len(text)
		sp.no = sp.end-start < least || is != nil && !is(text[start:sp.end])
		return sp
	}}
}

// varied distinguishes random text from words with hyphens, as in names of style sheets.
func varied(s string) bool {
	return count(s, digits) >= 2 || strings.ToUpper(s) != s && strings.ToLower(s) != s
}

// count is how many bytes of s are in the set.
func count(s, set string) int {
	n := 0
	for i := range len(s) {
		if strings.IndexByte(set, s[i]) >= 0 {
			n++
		}
	}
	return n
}

// privateKey is a PEM block (RFC 7468) whose label ends in PRIVATE KEY. A block without
// an end ends with its base64.
func privateKey(text string, at int) span {
	const begin, dashes = "-----BEGIN ", "-----"
	label := at + len(begin)
	n := run(text, label, upper+" ")
	head := label + n
	if !strings.HasPrefix(text[head:], dashes) {
		return span{start: at, end: head, from: at, no: true, open: strings.HasPrefix(dashes, text[head:])}
	}
	if !strings.HasSuffix(text[label:head], "PRIVATE KEY") {
		return span{no: true}
	}
	body := head + len(dashes)
	end := body + run(text, body, pemBody)
	if i := strings.Index(text[body:end], "-----END "); i >= 0 {
		tail := body + i + len("-----END ")
		tail += run(text, tail, upper+" ")
		return span{start: at, end: tail + run(text, tail, "-"), from: at, open: tail >= len(text)-len(dashes)}
	}
	return span{start: at, end: end, from: at, open: end == len(text)}
}

// header is the value of an Authorization header or one like X-Api-Key, as in a request,
// in JSON, or in a program's arguments. The name of the scheme stays.
func header(text string, at int) span {
	i := at + run(text, at, letters+"-")
	i += run(text, i, "\"'\\ ")
	if i < len(text) && (text[i] == ':' || text[i] == '=') {
		i++
		i += run(text, i, "\"'\\ ")
	} else if i < len(text) {
		return span{no: true}
	}
	if n := run(text, i, letters); isScheme(text[i:i+n]) && i+n < len(text) && text[i+n] == ' ' {
		return credential(text, at, i+n+1, 8, varied)
	}
	return credential(text, at, i, 16, func(s string) bool { return count(s, digits) >= 2 })
}

// isScheme says whether a word is one of the schemes of HTTP authentication.
func isScheme(name string) bool {
	switch strings.ToLower(name) {
	case "bearer", "basic", "token", "digest", "apikey", "key", "negotiate":
		return true
	}
	return false
}

// bearer is a bearer token without the header's name before it.
func bearer(text string, at int) span {
	return credential(text, at, at+len("earer "), 20, varied)
}

// credential is the token at i, which the words from at on announce. is says whether it
// looks like one. A text that is called or indexed is a name in a program.
func credential(text string, at, i, least int, is func(string) bool) span {
	end := i + run(text, i, token)
	sp := span{start: i, end: end, from: at, open: end == len(text)}
	sp.no = end-i < least || !is(text[i:end]) || !sp.open && strings.IndexByte("([", text[end]) >= 0
	return sp
}

// userinfo is the password in a URL (RFC 3986, 3.2.1), or a long user name without one,
// which is a token. A placeholder for a password is not a secret.
func userinfo(text string, at int) span {
	start := at + len("://")
	end := start + run(text, start, word+"-.~!$&'()*+,;=:%{}<>")
	if end == len(text) {
		return span{start: start, end: end, from: at, open: true, no: true}
	}
	if text[end] != '@' {
		return span{no: true}
	}
	if i := strings.IndexByte(text[start:end], ':'); i >= 0 {
		start += i + 1
	} else if end-start < 20 {
		return span{no: true}
	}
	placeholder := start == end || strings.IndexByte("$<{%*", text[start]) >= 0
	return span{start: start, end: end, from: at, no: placeholder}
}
