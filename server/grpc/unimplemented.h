// Calls of methods that are not served.
#pragma once

#include "grpcpp/completion_queue.h"
#include "grpcpp/generic/async_generic_service.h"

namespace reprise {

// Posts a call: it takes the next call of a method that no service has, answers
// UNIMPLEMENTED with the method's name, and posts another. Both must outlive
// all calls.
void PostUnimplemented(grpc::AsyncGenericService& service,
                       grpc::ServerCompletionQueue& queue);

}  // namespace reprise
