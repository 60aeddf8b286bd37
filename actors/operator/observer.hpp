// Inspects the tasks of a cluster for an operator's tool, without a session. Names no CAF type.
#pragma once
#include "troupe/runtime/insight/inspection.hpp"
#include "troupe/runtime/insight/inspection_ref.hpp"
#include "troupe/serialization/discovery/address_source.hpp"
#include "troupe/serialization/tls/tls_files.hpp"

#include <chrono>
#include <memory>

namespace troupe {

struct observer_options {
  tls_files tls = {};    ///< all connections use TLS; none: no encryption
  bool insecure = false; ///< allows unencrypted connections to other machines
};

/// Connects to a task at the first request for it, and keeps the connection. Any thread may call.
/// Each call blocks for its patience and about a second more at most.
class observer {
public:
  /// Fails if the certificates cannot be used.
  static result<std::unique_ptr<observer>> connect(const cluster_access& cluster,
                                                   const observer_options& options = {});
  virtual ~observer() = default;

  /// Inspects a part of the cluster. For "/" and for a job, tasks that do not answer in time have
  /// an "error". If no task is known yet, as in a cluster that tasks join, waits for one.
  virtual result<inspection> inspect(const inspection_ref& ref, const inspection_scope& scope,
                                     std::chrono::milliseconds patience) = 0;
  /// Asks a task to accept no new work and to end when its running work has ended.
  virtual status drain(const task_name& task, std::chrono::milliseconds patience) = 0;
};

} // namespace troupe
