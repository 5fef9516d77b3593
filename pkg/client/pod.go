package client

import (
	"context"

	poddv1 "podd/proto/podd/v1"
)

// Pod is the pod with a name or an id. While podd restarts, the call is repeated silently
// (see Config.RetryFor).
func (c *Client) Pod(ctx context.Context, pod string) (*poddv1.Pod, error) {
	return again(ctx, c, nil, func() (*poddv1.Pod, error) {
		resp, err := c.Pods().GetPod(ctx, &poddv1.GetPodRequest{Pod: pod})
		return resp.GetPod(), err
	})
}

// Image returns the bytes of an image that an entry refers to, by its digest.
func (c *Client) Image(ctx context.Context, digest string) ([]byte, error) {
	resp, err := c.Pods().GetImage(ctx, &poddv1.GetImageRequest{Digest: digest})
	return resp.GetData(), err
}
