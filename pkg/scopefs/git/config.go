package git

import (
	"strings"
)

// setting is one line of a configuration file. section has the subsection after a dot;
// section and key are in lower case, a subsection is as written.
type setting struct{ section, key, value string }

// parseConfig reads a configuration file as git-config(1) describes it. It skips what git
// would refuse.
func parseConfig(text string) (all []setting) {
	p := configParser{rest: strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n")}
	section := ""
	for p.rest != "" {
		switch c := p.rest[0]; {
		case c == ' ' || c == '\t' || c == '\n':
			p.rest = p.rest[1:]
		case c == '#' || c == ';':
			p.line()
		case c == '[':
			section = p.header()
		default:
			key, value := p.assignment()
			all = append(all, setting{section, strings.ToLower(key), value})
		}
	}
	return all
}

type configParser struct{ rest string }

// line reads the rest of the line.
func (p *configParser) line() string {
	line, rest, _ := strings.Cut(p.rest, "\n")
	p.rest = rest
	return line
}

// header reads [section "subsection"].
func (p *configParser) header() string {
	end := strings.IndexAny(p.rest, "]\"\n")
	if end < 0 || p.rest[end] == '\n' {
		p.line()
		return ""
	}
	name := strings.ToLower(strings.TrimSpace(p.rest[1:end]))
	if p.rest[end] == ']' {
		p.rest = p.rest[end+1:]
		return name
	}
	var sub strings.Builder
	i := end + 1
	for ; i < len(p.rest) && p.rest[i] != '"' && p.rest[i] != '\n'; i++ {
		if p.rest[i] == '\\' && i+1 < len(p.rest) {
			i++
		}
		sub.WriteByte(p.rest[i])
	}
	p.rest = p.rest[min(i, len(p.rest)):]
	if closed := strings.IndexAny(p.rest, "]\n"); closed >= 0 && p.rest[closed] == ']' {
		p.rest = p.rest[closed+1:]
	} else {
		p.line()
	}
	return name + "." + sub.String()
}

// assignment reads a key with its value, which may continue in further lines.
func (p *configParser) assignment() (key, value string) {
	end := strings.IndexAny(p.rest, "=\n")
	if end < 0 || p.rest[end] == '\n' {
		return strings.TrimSpace(p.line()), ""
	}
	key = strings.TrimSpace(p.rest[:end])
	p.rest = strings.TrimLeft(p.rest[end+1:], " \t")
	return key, p.value()
}

// value reads the rest of the line, unquoted.
func (p *configParser) value() string {
	var b strings.Builder
	quoted := false
	// kept is the length without trailing spaces, which count only in quotes.
	kept := 0
	i := 0
	for ; i < len(p.rest); i++ {
		c := p.rest[i]
		if c == '\n' || !quoted && (c == '#' || c == ';') {
			break
		}
		switch {
		case c == '"':
			quoted = !quoted
			kept = b.Len()
			continue
		case c == '\\' && i+1 < len(p.rest):
			i++
			if p.rest[i] == '\n' {
				continue
			}
			b.WriteString(unescape(p.rest[i]))
			kept = b.Len()
			continue
		}
		b.WriteByte(c)
		if quoted || c != ' ' && c != '\t' {
			kept = b.Len()
		}
	}
	p.rest = p.rest[i:]
	p.line()
	return b.String()[:kept]
}

// unescape is the meaning of a character after a backslash.
func unescape(c byte) string {
	switch c {
	case 'n':
		return "\n"
	case 't':
		return "\t"
	case 'b':
		return "\b"
	}
	return string(rune(c))
}
