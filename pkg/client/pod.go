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
