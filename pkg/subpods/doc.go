// Package subpods has spawn_pod, the tool by which a pod gives a task to a new pod, a
// sub-pod, and waits for its answer. It works through the methods of [pod.Host] alone, as
// any client does.
//
// A sub-pod gets a part of what its parent may do and use, and never more. What it used is
// billed to the call when its turn has ended. A call that an earlier podd started finds its
// sub-pod again and waits on.
package subpods
