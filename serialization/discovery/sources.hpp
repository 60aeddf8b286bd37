// The sources that need no network access of their own.
#pragma once
#include "troupe/serialization/discovery/address_source.hpp"

#include <string>
#include <string_view>

namespace troupe {

/// A cluster file, which may be missing at first; it is read again when it changes.
std::shared_ptr<address_source> make_file_source(std::string path, bool jobs_are_final);

/// "worker*4=worker-{index}.train.svc:7000,ps*1=...". A name is resolved at each connect to its
/// task. This process is the task whose host name is HOSTNAME. If several tasks are on that host,
/// own_task() fails unless only one is of the job that it gets.
result<std::shared_ptr<address_source>> make_dns_source(std::string_view text,
                                                        const environment& variables);

/// "ps*2,worker*6,port=7000": the ranks of a Slurm step, in this order. The last job may have no
/// number; it takes the remaining ranks. The variables of the step are used if its number of tasks
/// matches the text, else those of the whole allocation.
result<std::shared_ptr<address_source>> make_slurm_source(std::string_view text,
                                                          const environment& variables);

/// "worker*4,service=train,port=7000": pods of an indexed Job, or of a StatefulSet, behind a
/// headless service. Without `name=`, their names are that of this pod with another number.
result<std::shared_ptr<address_source>> make_kubernetes_source(std::string_view text,
                                                               const environment& variables);

} // namespace troupe
