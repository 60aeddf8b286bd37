// How ops ask machines that save what they hold as bytes: queues and readers.
#pragma once
#include "troupe/runtime/state/responder.hpp"
#include "troupe/runtime/types/tensor.hpp"

#include <string>
#include <utility>

namespace troupe {

template <class Machine>
void answer_with_state(Machine& of, const question& what, answers& done) {
  if (auto state = of.state())
    done.push_back({what.who, {}, {tensor::scalar(*std::move(state))}});
  else
    done.push_back({what.who, state.status()});
}

/// The state is the first input.
template <class Machine>
void restore_state(Machine& of, const question& what, answers& done) {
  const auto& state = what.inputs.at(0);
  if (state.rank() != 0)
    done.push_back({what.who, invalid("state must be a scalar, got ", state.dims())});
  else
    done.push_back({what.who, of.restore(*state.data<std::string>(), done)});
}

} // namespace troupe
