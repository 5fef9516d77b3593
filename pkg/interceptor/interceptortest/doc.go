// Package interceptortest is the suite that every interceptor.Interceptor must pass.
package interceptortest
