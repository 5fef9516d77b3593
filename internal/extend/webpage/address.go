package webpage

import (
	"fmt"
	"net/netip"
	"slices"
)

// special are the ranges of global addresses that lead to no public server: the IANA
// registries of special-purpose addresses (RFC 6890), and the IPv6 ranges that contain an
// IPv4 address.
var special = parsePrefixes(
	"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4",
	"64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20", "5f00::/16",
)

// global has the IPv6 addresses of public servers.
var global = netip.MustParsePrefix("2000::/3")

func parsePrefixes(all ...string) []netip.Prefix {
	prefixes := make([]netip.Prefix, len(all))
	for i, text := range all {
		prefixes[i] = netip.MustParsePrefix(text)
	}
	return prefixes
}

// Public says whether an address is on the public internet: not of this machine, a
// private network, a link or a special range.
func Public(address netip.Addr) bool {
	address = address.Unmap().WithZone("")
	switch {
	case !address.IsGlobalUnicast(), address.IsPrivate(), address.Is6() && !global.Contains(address):
		return false
	}
	return !slices.ContainsFunc(special, func(p netip.Prefix) bool { return p.Contains(address) })
}

// PrivateError says that a host leads to an address that is not public.
type PrivateError struct {
	// Host is the host with its port.
	Host    string
	Address netip.Addr
}

func (e *PrivateError) Error() string {
	return fmt.Sprintf("%s leads to %s, which is not a public address", e.Host, e.Address)
}

// PortError says that a URL names a port that is not a web port.
type PortError struct {
	// Host is the host with its port.
	Host string
}

func (e *PortError) Error() string { return e.Host + " is not on port 80 or 443" }
