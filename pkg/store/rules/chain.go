package rules

import (
	"crypto/sha256"
	"encoding/binary"

	"podd/pkg/item"
)

// chainLen is the length of a chain's name.
const chainLen = 16

// ChainName is the same for equal alerts. Different alerts may share it too: lookups
// compare the alerts.
func ChainName(a item.Alert) []byte {
	sum := sha256.New()
	for _, part := range []string{a.Pod, string(a.Level), a.Source, a.Text} {
		_, _ = sum.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
		_, _ = sum.Write([]byte(part))
	}
	return sum.Sum(nil)[:chainLen]
}
