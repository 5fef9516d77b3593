package server_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

func TestMain(m *testing.M) {
	if path := os.Getenv(callVariable); path != "" {
		call(path)
		return
	}
	goleak.VerifyTestMain(m)
}

// call asks podd for its status and prints the result.
func call(path string) {
	conn, err := grpc.NewClient("unix:"+path, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err == nil {
		err = getStatus(context.Background(), conn)
		_ = conn.Close()
	}
	fmt.Println(err)
}
