package web_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"podd/internal/commands/confine"
	"podd/internal/web"
)

func TestMain(m *testing.M) {
	confine.Main()
	if len(os.Args) > 1 && os.Args[1] == web.ChildVerb {
		if err := web.Child(context.Background()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}
