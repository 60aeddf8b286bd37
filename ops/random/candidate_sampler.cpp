// Samplers of classes, which differ in distribution.
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::candidate_sampler_op {
namespace {

// true_classes has a row for each example, with `num_true` classes per row.
result<shapes> infer_candidates(const infer_context& at) {
  TROUPE_ASSIGN(auto classes, at.of_rank(0, 2));
  auto true_count = at.attr<int64_t>("num_true"), sample_count = at.attr<int64_t>("num_sampled");
  auto counts = merge(classes, partial_shape{unknown_extent, true_count});
  if (!counts)
    return at.invalid("true_classes must have num_true = ", true_count, " columns, got shape ",
                      classes);
  TROUPE_ASSIGN(auto chosen, shape::make(std::array{sample_count}));
  return shapes{chosen, *counts, chosen};
}

// Completes the form of a sampler.
constexpr op_def candidate_sampler(op_def def) {
  def.inputs = {{"true_classes", "i64"}};
  def.outputs = {{"sampled_candidates", "i64"},
                 {"true_expected_count", "f32"},
                 {"sampled_expected_count", "f32"}};
  def.effects = effect::stateful | effect::random;
  def.infer = infer_candidates;
  def.no_gradient = "its output does not depend on the values of its inputs";
  return def;
}

constexpr attr_list sampler_attrs{{"num_true", at_least{1}},
                                  {"num_sampled", at_least{1}},
                                  {"unique", attr_kind::boolean},
                                  {"range_max", at_least{1}},
                                  {"seed", 0},
                                  {"seed2", 0}};

} // namespace

extern constexpr op_def all_candidate_sampler = [] {
  auto def = candidate_sampler({
      .name = "AllCandidateSampler",
      .doc =
          "Samples each of num_sampled classes once, in order.\n\n"
          "All expected counts are 1. For tests: it computes what the other samplers approximate.",
      .attrs = {{"num_true", at_least{1}},
                {"num_sampled", at_least{1}},
                {"unique", attr_kind::boolean},
                {"seed", 0},
                {"seed2", 0}},
      .example = R"(
s = AllCandidateSampler(i64[[1], [2]]) num_true=1 num_sampled=3 unique=true
fetch s = i64[0, 1, 2]
fetch s:1 = f32[[1], [1]]
fetch s:2 = f32[1, 1, 1]
)",
  });
  def.effects = effect::none;
  return def;
}();

extern constexpr op_def uniform_candidate_sampler = candidate_sampler({
    .name = "UniformCandidateSampler",
    .doc =
        "Samples classes evenly from [0, range_max), for losses that do not look at all.\n\n"
        "sampled_expected_count says how often each sampled class is to be expected in such a "
        "sample, true_expected_count the same of each true class. Unique classes are drawn until "
        "there are enough that differ, and the counts are those for so many draws. Equal seeds "
        "give equal samples, run after run.",
    .attrs = sampler_attrs,
    .example = R"(
s = UniformCandidateSampler(i64[[1], [2]]) num_true=1 num_sampled=4 unique=false range_max=8 seed=1
fetch s:1 = f32[[0.5], [0.5]]
fetch s:2 = f32[0.5, 0.5, 0.5, 0.5]
)",
});

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

extern constexpr op_def learned_unigram_candidate_sampler = candidate_sampler({
    .name = "LearnedUnigramCandidateSampler",
    .doc = "Samples classes as often as they were among true_classes so far, for losses that do "
           "not look at all.\n\n"
           "Each class counts once to begin with, and once more whenever a run has it in "
           "true_classes; a run samples before it counts. range_max numbers are kept from run to "
           "run. Expected counts and seeds are as those of UniformCandidateSampler.",
    .attrs = sampler_attrs,
    .example = R"(
x = Placeholder dtype=i64 shape=[-1,1]
s = LearnedUnigramCandidateSampler(x) num_true=1 num_sampled=2 unique=false range_max=3
feed x = i64[[0]]
fetch s:1 = f32[[0.6666667]]
)",
});

extern constexpr op_def thread_unsafe_unigram_candidate_sampler = candidate_sampler({
    .name = "ThreadUnsafeUnigramCandidateSampler",
    .doc = "Does what LearnedUnigramCandidateSampler does, and is as safe.",
    .attrs = sampler_attrs,
    .example = R"(
x = Placeholder dtype=i64 shape=[-1,1]
s = ThreadUnsafeUnigramCandidateSampler(x) num_true=1 num_sampled=2 unique=false range_max=3
feed x = i64[[0]]
fetch s:1 = f32[[0.6666667]]
)",
});

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

} // namespace troupe::ops::candidate_sampler_op
