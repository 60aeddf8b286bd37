// Checkpoints in TensorFlow's formats, in files of the node's task. The ops have no kernels: a
// separate thread does their work (serialization/tensor_bundle/checkpoint_work.hpp).
#include "troupe/runtime/graph/infer.hpp"

#include <algorithm>

namespace troupe::ops::save_restore_op {
namespace {

constexpr auto works = effect::stateful | effect::blocking;
constexpr std::string_view no_gradient = "files do not carry gradients";

constexpr port text(std::string_view name) { return {name, "string"}; }

// Where the names are known, there must be as many as tensors.
status check_count(const infer_context& at, int input, std::string_view name, int tensors) {
  TROUPE_ASSIGN(auto dims, at.of_rank(input, 1));
  if (dims.has_rank() && dims[0] >= 0 && dims[0] != tensors)
    return at.invalid(name, " has ", dims[0], " strings, and there are ", tensors, " tensors");
  return {};
}

result<shapes> infer_save(const infer_context& at) {
  TROUPE_TRY(check_count(at, 1, "tensor_names", at.inputs() - 2));
  return shapes{};
}

result<shapes> infer_save_slices(const infer_context& at) {
  TROUPE_TRY(check_count(at, 1, "tensor_names", at.inputs() - 3));
  TROUPE_TRY(check_count(at, 2, "the list of slices", at.inputs() - 3));
  return shapes{};
}

result<shapes> infer_restore_v2(const infer_context& at) {
  TROUPE_TRY(check_count(at, 1, "tensor_names", at.outputs()));
  TROUPE_TRY(check_count(at, 2, "shape_and_slices", at.outputs()));
  return shapes(static_cast<size_t>(at.outputs()));
}

result<shapes> infer_restore(const infer_context&) { return shapes(1); }

result<shapes> infer_merge(const infer_context& at) {
  TROUPE_TRY(at.of_rank(0, 1));
  return shapes{};
}

} // namespace

extern constexpr op_def save_v2{
    .name = "SaveV2",
    .doc = "Writes tensors to a checkpoint: PREFIX.index and PREFIX.data-00000-of-00001.\n\n"
           "A string of shape_and_slices is empty, or says which slice of which whole the tensor "
           "is, such as \"4 5 0,2:-\". The folder is made where there is none. What was there is "
           "replaced when all is on the disk. The task that the node is on writes; other nodes go "
           "on meanwhile.",
    .inputs = {text("prefix"),
               text("tensor_names"),
               text("shape_and_slices"),
               {"tensors", "dtypes"}},
    .attrs = {{"dtypes", attr_kind::types}},
    .effects = works,
    .infer = infer_save_slices,
    .no_gradient = no_gradient,
    .example = R"(
save = SaveV2(string(""), string["w"], string[""], f32[1, 2])
target save
error invalid_argument "prefix must not be empty"
)",
};

extern constexpr op_def restore_v2{
    .name = "RestoreV2",
    .doc = "Reads tensors of a checkpoint, whole or slices of them.\n\n"
           "Every checksum is compared. The types must be those of the checkpoint. Where there is "
           "no PREFIX.index, the prefix is taken for a file, or a pattern of files, of version 1 "
           "of the format.",
    .inputs = {text("prefix"), text("tensor_names"), text("shape_and_slices")},
    .outputs = {{"tensors", "dtypes"}},
    .attrs = {{"dtypes", attr_kind::types}},
    .effects = works,
    .infer = infer_restore_v2,
    .no_gradient = no_gradient,
    .example = R"(
w = RestoreV2(string("no/model"), string["w"], string[""]) dtypes=[f32]
fetch w
error not_found "there is no checkpoint"
)",
};

extern constexpr op_def merge_v2_checkpoints{
    .name = "MergeV2Checkpoints",
    .doc = "Makes one checkpoint of several, which tasks have written each on its own.\n\n"
           "The files of data are renamed, so all must be on one disk; the old indices are "
           "removed, and with delete_old_dirs their folders, too, if these are empty then. With "
           "allow_missing_files, some may not be there.",
    .inputs = {text("checkpoint_prefixes"), text("destination_prefix")},
    .attrs = {{"delete_old_dirs", true}, {"allow_missing_files", false}},
    .effects = works,
    .infer = infer_merge,
    .no_gradient = no_gradient,
    .example = R"(
merge = MergeV2Checkpoints(string["no/part"], string("no/model"))
target merge
error not_found "no/part.index"
)",
};

extern constexpr op_def save{
    .name = "Save",
    .doc = "Writes tensors to a checkpoint of version 1 of the format: one file.\n\n"
           "Each tensor may have about 2 GB as text of Protobuf. See SaveV2 for more.",
    .inputs = {text("filename"), text("tensor_names"), {"data", "T"}},
    .attrs = {{"T", attr_kind::types}},
    .effects = works,
    .infer = infer_save,
    .no_gradient = no_gradient,
    .example = R"(
save = Save(string(""), string["w"], f32[1, 2])
target save
error invalid_argument "filename must not be empty"
)",
};

extern constexpr op_def save_slices{
    .name = "SaveSlices",
    .doc = "Writes tensors or slices of them to a checkpoint of version 1 of the format: one file."
           "\n\nA string of shapes_and_slices is empty, or says which slice of which whole the "
           "tensor is, such as \"4 5 0,2:-\". See SaveV2 for more.",
    .inputs = {text("filename"), text("tensor_names"), text("shapes_and_slices"), {"data", "T"}},
    .attrs = {{"T", attr_kind::types}},
    .effects = works,
    .infer = infer_save_slices,
    .no_gradient = no_gradient,
    .example = R"(
save = SaveSlices(string("model"), string["w"], string["4 0,9"], f32[1, 2])
target save
error invalid_argument "does not lie within"
)",
};

extern constexpr op_def restore{
    .name = "Restore",
    .doc = "Reads a tensor of a checkpoint of version 1 of the format.\n\n"
           "file_pattern may have ? for a character and * for any number of them: files that "
           "tasks have written each on its own. preferred_shard is a hint, and not needed.",
    .inputs = {text("file_pattern"), text("tensor_name")},
    .outputs = {{"tensor", "dt"}},
    .attrs = {{"dt", any_type}, {"preferred_shard", -1}},
    .effects = works,
    .infer = infer_restore,
    .no_gradient = no_gradient,
    .example = R"(
w = Restore(string("no/model"), string("w")) dt=f32
fetch w
error not_found "no/model"
)",
};

extern constexpr op_def restore_slice{
    .name = "RestoreSlice",
    .doc = "Reads a slice of a tensor of a checkpoint of version 1 of the format.\n\n"
           "shape_and_slice is empty for the whole, or such as \"4 5 0,2:-\". See Restore.",
    .inputs = {text("file_pattern"), text("tensor_name"), text("shape_and_slice")},
    .outputs = {{"tensor", "dt"}},
    .attrs = {{"dt", any_type}, {"preferred_shard", -1}},
    .effects = works,
    .infer = infer_restore,
    .no_gradient = no_gradient,
    .example = R"(
w = RestoreSlice(string("no/model-?????-of-00002"), string("w"), string("4 0,2")) dt=f32
fetch w
error not_found "no"
)",
};

} // namespace troupe::ops::save_restore_op
