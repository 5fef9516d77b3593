package client

import (
	"context"
	"crypto/rand"
	"encoding/hex"

	"google.golang.org/protobuf/proto"

	poddv1 "podd/proto/podd/v1"
)

// NewRequestID makes a request id: 128 random bits in hexadecimal.
func NewRequestID() string {
	var raw [16]byte
	rand.Read(raw[:])
	return hex.EncodeToString(raw[:])
}

// Submit gives a pod input and returns once podd has it on disk. A request without
// an id is sent with a new one; req is not changed. While podd restarts, the submit
// is sent again (see Config.RetryFor): the request id makes sure that it is admitted
// once. A duplicate in the response then means that podd had it before the first
// reply was lost.
//
// When Submit ends with a connection error or with ctx, podd may have the submit or
// not; another Submit with the same id tells.
func (c *Client) Submit(ctx context.Context, req *poddv1.SubmitRequest) (*poddv1.SubmitResponse, error) {
	if req.GetRequestId() == "" {
		req = proto.CloneOf(req)
		req.RequestId = NewRequestID()
	}
	return again(ctx, c, c.waiting, func() (*poddv1.SubmitResponse, error) { return c.Pods().Submit(ctx, req) })
}
