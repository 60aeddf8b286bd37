// Answers questions to resources that can be saved and restored: queues and readers.
#pragma once
#include "troupe/runtime/state/waitable_resource.hpp"
#include "troupe/runtime/types/tensor.hpp"

#include <string>
#include <utility>

namespace troupe {

template <class Machine>
void answer_with_state(Machine& machine, const question& request, answers& done) {
  if (auto state = machine.state())
    done.push_back({request.id, {}, {tensor::scalar(*std::move(state))}});
  else
    done.push_back({request.id, state.status()});
}

/// Restores the state that is the first input.
template <class Machine>
void restore_state(Machine& machine, const question& request, answers& done) {
  const auto& state = request.inputs.at(0);
  if (state.rank() != 0)
    done.push_back({request.id, invalid("state must be a scalar, got ", state.dims())});
  else
    done.push_back({request.id, machine.restore(*state.data<std::string>(), done)});
}

} // namespace troupe
