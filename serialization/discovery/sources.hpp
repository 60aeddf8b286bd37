// The kinds of sources that need no network of their own.
#pragma once
#include "troupe/serialization/discovery/address_source.hpp"

#include <string>
#include <string_view>

namespace troupe {

/// A cluster file, which need not be there yet; it is read again when it changes.
std::shared_ptr<address_source> make_file_source(std::string path, bool jobs_are_final);

/// "worker*4=worker-{index}.train.svc:7000,ps*1=...". A name is resolved whenever its task is
/// called. This process is the task whose host has its name (HOSTNAME).
result<std::shared_ptr<address_source>> make_dns_source(std::string_view text,
                                                        const environment& from);

/// "ps*2,worker*6,port=7000": the ranks of a Slurm step, in this order; a job without a number, at
/// the end, has the rest. The step's variables are taken where it has as many tasks as the text
/// says, else those of the whole allocation.
result<std::shared_ptr<address_source>> make_slurm_source(std::string_view text,
                                                          const environment& from);

/// "worker*4,service=train,port=7000": pods of an indexed Job, or of a StatefulSet, behind a
/// headless service. Without `name=`, they are called as this pod is, but for the number.
result<std::shared_ptr<address_source>> make_kubernetes_source(std::string_view text,
                                                               const environment& from);

} // namespace troupe
