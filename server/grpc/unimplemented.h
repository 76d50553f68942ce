// Calls of methods that are not served.
#pragma once

#include "grpcpp/completion_queue.h"
#include "grpcpp/generic/async_generic_service.h"
#include "prometheus/counter.h"
#include "prometheus/family.h"

namespace reprise {

// What calls of methods that are not served have in common; outlives them.
// Callers choose the methods' names: `answered` counts them all.
struct UnimplementedContext {
  grpc::AsyncGenericService& service;
  grpc::ServerCompletionQueue& queue;
  prometheus::Counter& answered;
};

// Posts a call: it takes the next call of a method that no service has, answers
// UNIMPLEMENTED with the method's name, and posts another.
void PostUnimplemented(UnimplementedContext& context);

}  // namespace reprise
