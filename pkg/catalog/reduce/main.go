// Command reduce makes models.json from the catalogue of models.dev on standard input:
//
//	curl -s https://models.dev/catalog.json | go run ./pkg/catalog/reduce -date 2026-11-23 > pkg/catalog/models.json
package main

import (
	"flag"
	"fmt"
	"io"
	"os"

	"podd/pkg/catalog"
)

func main() {
	source := flag.String("source", catalog.Address, "where the data is from")
	date := flag.String("date", "", "when it was current, as YYYY-MM-DD")
	flag.Parse()
	if err := run(*source, *date); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "reduce:", err)
		os.Exit(1)
	}
}

func run(source, date string) error {
	text, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	c, err := catalog.Reduce(text, source, date)
	if err != nil {
		return err
	}
	_, err = os.Stdout.Write(c.Encode())
	return err
}
