//go:build integrations

package rig

import (
	"fmt"
	"math/rand/v2"
)

// Address is a loopback address with a port, for a server that cannot choose one by itself. Both are random, so that no other
// test takes them, and the port is below those that Linux chooses by default (net.ipv4.ip_local_port_range, from 32768).
func Address() string {
	return fmt.Sprintf("127.%d.%d.%d:%d", 1+rand.N(254), rand.N(256), 1+rand.N(254), 20000+rand.N(12000))
}
