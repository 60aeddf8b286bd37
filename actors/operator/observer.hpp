// How an operator's tool looks at the tasks of a cluster, without a session. Names no CAF type.
#pragma once
#include "troupe/runtime/insight/inspection.hpp"
#include "troupe/runtime/insight/inspection_ref.hpp"
#include "troupe/serialization/discovery/address_source.hpp"
#include "troupe/serialization/tls/tls_files.hpp"

#include <chrono>
#include <memory>

namespace troupe {

struct observer_options {
  tls_files tls = {};    ///< all connections are over TLS; none: without encryption
  bool insecure = false; ///< allows other machines without encryption
};

/// Connects to tasks when it asks them, and stays connected. Any thread may call; each call blocks
/// for little longer than its patience at most.
class observer {
public:
  /// Fails where the certificates cannot be used.
  static result<std::unique_ptr<observer>> of(const cluster_access& cluster,
                                              const observer_options& how = {});
  virtual ~observer() = default;

  /// A part of the cluster; of "/" and of a job, tasks that do not answer in time have an "error".
  /// Where no task is known yet, as in a cluster that is joined, it waits for one.
  virtual result<inspection> inspect(const inspection_ref& ref, const inspection_scope& scope,
                                     std::chrono::milliseconds patience) = 0;
  /// Has a task take nothing new, and end when what has begun has ended.
  virtual status drain(const task_name& task, std::chrono::milliseconds patience) = 0;
};

} // namespace troupe
