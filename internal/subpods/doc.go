// Package subpods has spawn_pod, the tool by which a pod gives a task to a new pod, a
// sub-pod, and waits for its answer. Like any client it uses only the methods of
// [pod.Host].
//
// A sub-pod gets a part of its parent's permissions and limits, and never more. When its
// turn has ended, its use is billed to the call. A call that an earlier podd started
// finds its sub-pod again and continues to wait.
package subpods
