// LogUniformCandidateSampler: classes to learn from, the first the most likely, as words are.
#include "troupe/ops/random/shared/candidate_sampler.hpp"

namespace troupe::ops::log_uniform_candidate_sampler_op {

extern constexpr op_def log_uniform_candidate_sampler = candidate_sampler({
    .name = "LogUniformCandidateSampler",
    .doc =
        "Samples classes by Zipf's law, for losses that do not look at all.\n\n"
        "Class k has the probability log((k + 2) / (k + 1)) / log(range_max + 1): classes are to "
        "be numbered from the most frequent on. Expected counts and seeds are as those of "
        "UniformCandidateSampler.",
    .attrs = sampler_attrs,
    .example = R"(
s = LogUniformCandidateSampler(i64[[0, 6]]) num_true=2 num_sampled=3 unique=false range_max=7 seed=1
fetch s:1 = f32[[1, 0.19264507]]
)",
});

} // namespace troupe::ops::log_uniform_candidate_sampler_op
