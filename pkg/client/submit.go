package client

import (
	"context"
	"crypto/rand"
	"encoding/hex"

	"google.golang.org/protobuf/proto"

	poddv1 "podd/proto/podd/v1"
)

// NewRequestID creates a request id: 128 random bits in hexadecimal.
func NewRequestID() string {
	var raw [16]byte
	rand.Read(raw[:])
	return hex.EncodeToString(raw[:])
}

// Submit submits a prompt to a pod and returns once podd has it on disk. A request without
// an id gets a new one; req is not changed. While podd restarts, Submit is repeated (see
// Config.RetryFor): the request id ensures that podd admits it once. Then duplicate in the
// response means that podd had it before the first reply was lost.
//
// If Submit ends with a connection error or with ctx, podd may or may not have the submit;
// another Submit with the same id finds out.
func (c *Client) Submit(ctx context.Context, req *poddv1.SubmitRequest) (*poddv1.SubmitResponse, error) {
	if req.GetRequestId() == "" {
		req = proto.CloneOf(req)
		req.RequestId = NewRequestID()
	}
	return again(ctx, c, c.waiting, func() (*poddv1.SubmitResponse, error) { return c.Pods().Submit(ctx, req) })
}

// Notify writes a letter to a pod and returns once podd has it on disk. It gets an id and is repeated as Submit is.
func (c *Client) Notify(ctx context.Context, req *poddv1.NotifyRequest) (*poddv1.NotifyResponse, error) {
	if req.GetRequestId() == "" {
		req = proto.CloneOf(req)
		req.RequestId = NewRequestID()
	}
	return again(ctx, c, c.waiting, func() (*poddv1.NotifyResponse, error) { return c.Pods().Notify(ctx, req) })
}
