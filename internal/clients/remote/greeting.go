package remote

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"podd/pkg/item"
)

// magic begins the greeting. Its number is the version of this protocol.
const magic = "podd-stdio/1 "

// mostNoise is how many bytes another machine's shell may write before the greeting, and how
// long the greeting may be.
const mostNoise = 64 << 10

// greeting is what Serve says before podd's first byte.
type greeting struct {
	// Token is the client token; empty if it cannot be read.
	Token string `json:"token,omitempty"`
	// Error is why podd cannot be reached.
	Error *refusal `json:"error,omitempty"`
}

type refusal struct {
	Kind    item.ErrorKind `json:"kind"`
	Reason  string         `json:"reason"`
	Message string         `json:"message"`
}

func (g greeting) write(w io.Writer) error {
	text, err := json.Marshal(g)
	if err != nil {
		return fmt.Errorf("encode the greeting: %w", err)
	}
	_, err = fmt.Fprintf(w, "%s%s\n", magic, text)
	return err
}

var errNoGreeting = errors.New("no answer of podctl")

// readGreeting reads up to the end of the greeting, and no byte further.
func readGreeting(r io.Reader) (g greeting, err error) {
	var line strings.Builder
	one := make([]byte, 1)
	for range mostNoise {
		if _, err := io.ReadFull(r, one); err != nil {
			return g, err
		}
		if one[0] != '\n' {
			line.WriteByte(one[0])
			continue
		}
		if text, ok := strings.CutPrefix(line.String(), magic); ok {
			if err := json.Unmarshal([]byte(text), &g); err != nil {
				return g, errNoGreeting
			}
			return g, nil
		}
		line.Reset()
	}
	return g, errNoGreeting
}
