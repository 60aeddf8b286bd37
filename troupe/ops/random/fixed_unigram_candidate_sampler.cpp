// FixedUnigramCandidateSampler: classes to learn from, as likely as a list says.
#include "troupe/ops/random/shared/candidate_sampler.hpp"

namespace troupe::ops::fixed_unigram_candidate_sampler_op {

extern constexpr op_def fixed_unigram_candidate_sampler = candidate_sampler({
    .name = "FixedUnigramCandidateSampler",
    .doc =
        "Samples classes as often as their weights say, for losses that do not look at all.\n\n"
        "The weights are `unigrams`, or the last of the numbers, separated by commas, of each line "
        "of vocab_file, a file on the task that runs the op. Each is raised to the power of "
        "distortion: 0 makes all equal. The first num_reserved_ids classes have no weight, the "
        "listed ones follow. With several shards, only classes whose number leaves the rest "
        "`shard` when divided by num_shards are kept, and numbered anew; range_max is how many "
        "that leaves. Expected counts and seeds are as those of UniformCandidateSampler.",
    .attrs = {{"num_true", at_least{1}},
              {"num_sampled", at_least{1}},
              {"unique", attr_kind::boolean},
              {"range_max", at_least{1}},
              {"vocab_file", ""},
              {"distortion", 1.0},
              {"num_reserved_ids", 0},
              {"num_shards", 1},
              {"shard", 0},
              {"unigrams", attr_kind::reals, true},
              {"seed", 0},
              {"seed2", 0}},
    .example = R"(
x = i64[[0, 1, 2]]
s = FixedUnigramCandidateSampler(x) num_true=3 num_sampled=2 unique=false range_max=3 unigrams=[1,
    2, 5]
fetch s:1 = f32[[0.25, 0.5, 1.25]]
)",
});

} // namespace troupe::ops::fixed_unigram_candidate_sampler_op
