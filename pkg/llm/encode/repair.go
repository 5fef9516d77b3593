package encode

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"podd/pkg/item"
)

// maxToolName is the length of a tool name that every endpoint accepts.
const maxToolName = 64

// Arguments is what goes back as a call's arguments: as the model wrote them when
// they are a JSON object, otherwise {}.
func Arguments(s string) string {
	t := strings.TrimLeft(s, " \t\r\n")
	if !strings.HasPrefix(t, "{") || !json.Valid([]byte(s)) {
		return "{}"
	}
	return s
}

// ToolName is a call's tool name in a form that endpoints accept: a model may have
// written anything.
func ToolName(s string) string {
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		}
		return '_'
	}, s)
	if name == "" {
		return "unknown"
	}
	return name[:min(len(name), maxToolName)]
}

// OpaqueMembers returns the members of an opaque object for requests of a setup through an
// API, without its braces; "" when it has no members or is not a JSON object.
func OpaqueMembers(o item.Opaque, api string, s item.Setup) string {
	if !o.Fits(api, s) || !IsObject(o.JSON) {
		return ""
	}
	return strings.TrimSpace(o.JSON[1 : len(o.JSON)-1])
}

// IsForeign says whether something is for another API, endpoint or model.
func IsForeign(o item.Opaque, api string, s item.Setup) bool {
	return o != (item.Opaque{}) && !o.Fits(api, s)
}

// Adds says whether a body of the configuration has a member, which then replaces the
// adapter's own.
func Adds(body, name string) bool {
	var members map[string]json.RawMessage
	if body == "" || json.Unmarshal([]byte(body), &members) != nil {
		return false
	}
	_, ok := members[name]
	return ok
}

// IsObject says whether s is one JSON object with nothing around it.
func IsObject(s string) bool {
	return len(s) >= 2 && s[0] == '{' && s[len(s)-1] == '}' && json.Valid([]byte(s))
}

// CallID is a call's id in a form that fits: as it is, or a hash of it. Another API may
// have given it.
func CallID(id string, fits *regexp.Regexp) string {
	if fits.MatchString(id) {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:])[:ShortID]
}

// ShortID is the length of a hash that stands for a call's id: the one length that every
// endpoint accepts.
const ShortID = 9

// Raw appends JSON that another side wrote, as text that every parser accepts: valid
// UTF-8, and U+FFFD in place of each half of a surrogate pair that lacks the other half.
func Raw(dst []byte, text string) []byte {
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, "\uFFFD")
	}
	for {
		i := strings.IndexByte(text, '\\')
		if i < 0 || i+1 >= len(text) {
			return append(dst, text...)
		}
		dst = append(dst, text[:i]...)
		text = text[i:]
		r, n := escaped(text)
		switch {
		case !utf16.IsSurrogate(r):
		case isPair(r, text[n:]):
			n *= 2
		default:
			dst, text = append(dst, `\ufffd`...), text[n:]
			continue
		}
		dst, text = append(dst, text[:n]...), text[n:]
	}
}

// isPair says whether the other half of a surrogate pair follows.
func isPair(first rune, rest string) bool {
	if !strings.HasPrefix(rest, `\u`) {
		return false
	}
	second, _ := escaped(rest)
	return utf16.DecodeRune(first, second) != utf8.RuneError
}

// escaped reads the escape that text begins with: its code unit if it is \uXXXX, and its
// length.
func escaped(text string) (unit rune, n int) {
	if len(text) >= 6 && text[1] == 'u' {
		if v, err := strconv.ParseUint(text[2:6], 16, 16); err == nil {
			return rune(v), 6
		}
	}
	return 0, 2
}
