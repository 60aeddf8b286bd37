// How we set up an actor system of our own.
#pragma once
#include <caf/actor_system_config.hpp>

#include <cstddef>

namespace troupe {

/// The sharing scheduler with an explicit number of threads; the looking one where there is a
/// network. A host's own system is taken as it is.
class system_config final : public caf::actor_system_config {
public:
  system_config(size_t threads, bool networked);
};

} // namespace troupe
