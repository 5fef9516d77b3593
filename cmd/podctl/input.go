package main

import (
	"fmt"
	"io"
	"strings"

	"podd/pkg/client"
	"podd/pkg/item"
)

// inputText is what a submit or a note says: the arguments, or standard input for "-"
// and when there are no arguments and it is no terminal. what names it in errors.
func (p *program) inputText(args []string, what string) (string, error) {
	text := strings.Join(args, " ")
	if len(args) == 0 {
		if _, tty := terminal(p.stdin); tty {
			return "", usagef("there is nothing to submit: give TEXT, or - to read standard input")
		}
	}
	if len(args) == 0 || text == "-" {
		raw, err := io.ReadAll(io.LimitReader(p.stdin, client.MaxMessageBytes+1))
		if err != nil {
			return "", fmt.Errorf("standard input cannot be read: %w", err)
		}
		if len(raw) > client.MaxMessageBytes {
			return "", item.Errorf(item.KindExhausted, "MESSAGE_TOO_LARGE",
				"standard input has more than %d MiB: put it into a file and refer to it with @path", client.MaxMessageBytes>>20)
		}
		text = strings.TrimRight(string(raw), "\r\n")
	}
	if strings.TrimSpace(text) == "" {
		return "", usagef("the %s is empty: give it some text", what)
	}
	return text, nil
}
