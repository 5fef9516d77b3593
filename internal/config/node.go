package config

import (
	"net"
	"path/filepath"
	"strconv"

	"podd/pkg/item"
)

// nodeName is a setting of a node's name; may be empty.
func nodeName(key string, target *string) *setting {
	return text(key, "1 to 63 lower-case letters, digits and dashes, with at least one letter and no dash first", target, func(text string) bool {
		return text == "" || item.ValidPodName(text)
	})
}

// nodeAddress is a setting of an address that other machines can dial; may be empty.
func nodeAddress(key string, target *string) *setting {
	return text(key, `HOST:PORT where the other nodes reach this one, such as "10.0.0.4:7433"`, target, func(text string) bool {
		host, port, err := net.SplitHostPort(text)
		if err != nil {
			return text == ""
		}
		n, err := strconv.ParseUint(port, 10, 16)
		ip := net.ParseIP(host)
		return err == nil && n > 0 && host != "" && (ip == nil || !ip.IsUnspecified())
	})
}

// certificates is a setting of the files of a certificate, its key, and its authority.
func certificates(key string, target *[]string) *setting {
	const count = 3
	s := texts(key, `the absolute paths of certificate, key and authority, such as ["/etc/podd/n1.crt", "/etc/podd/n1.key", "/etc/podd/ca.crt"]`, target, filepath.IsAbs)
	set := s.set
	s.set = func(value any) bool {
		all, ok := strs[string](value)
		return ok && (len(all) == count || len(all) == 0) && set(value)
	}
	return s
}

// checkNode refuses a node without what it needs.
func (l *loader) checkNode() error {
	n, at := l.Store.Node, l.origin("node", "listen")
	switch {
	case n.Listen == "":
		return nil
	case l.Store.URL == "":
		return bad("%s: node.listen needs a database that the nodes share: set store.url", at)
	case n.Name == "":
		return bad("%s: node.listen needs a name for this node: set node.name", at)
	case len(n.TLS) == 0:
		return bad("%s: node.listen needs a certificate for this node: set node.tls", at)
	}
	return nil
}
