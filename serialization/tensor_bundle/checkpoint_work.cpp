#include "troupe/serialization/tensor_bundle/checkpoint_work.hpp"

#include "troupe/runtime/graph/graph.hpp"
#include "troupe/runtime/graph/registry.hpp"
#include "troupe/serialization/tensor_bundle/bundle_files.hpp"
#include "troupe/serialization/tensor_bundle/slice_file.hpp"
#include "troupe/serialization/tensor_bundle/slice_spec.hpp"
#include "troupe/serialization/tensor_bundle/tensor_bundle.hpp"

#include <optional>

namespace troupe {
namespace {

using outputs = std::vector<tensor>;

status stopped() { return failure(error_kind::cancelled, "the step has failed meanwhile"); }

result<std::string> one_text(const tensor& from, std::string_view name) {
  if (from.type() != dtype::string || from.elements() != 1)
    return invalid(name, " must be one string, got ", from.type(), from.dims());
  return *from.data<std::string>();
}

result<std::span<const std::string>> texts(const tensor& from, std::string_view name,
                                           std::optional<size_t> count = {}) {
  if (from.type() != dtype::string || from.rank() != 1)
    return invalid(name, " must be a vector of strings, got ", from.type(), from.dims());
  auto all = from.values<std::string>();
  if (count && all.size() != *count)
    return invalid(name, " has ", all.size(), " strings, and there are ", *count, " tensors");
  return std::span<const std::string>{all};
}

std::vector<int64_t> origin_of(const shape& whole) {
  return std::vector<int64_t>(static_cast<size_t>(whole.rank()));
}

// What one of the Save ops wants to be written.
struct wanted_save {
  std::string path;
  std::span<const std::string> names, slices; // no slices: all tensors are whole
  std::span<const tensor> values;
};

result<wanted_save> read_save(const work_context& at, bool with_slices) {
  wanted_save made;
  TROUPE_ASSIGN(made.path, one_text(at.inputs[0], at.of.input_port(0).name));
  if (made.path.empty())
    return invalid(at.of.input_port(0).name, " must not be empty");
  made.values = at.inputs.subspan(with_slices ? 3 : 2);
  TROUPE_ASSIGN(made.names, texts(at.inputs[1], "tensor_names", made.values.size()));
  if (with_slices) {
    TROUPE_ASSIGN(made.slices, texts(at.inputs[2], at.of.input_port(2).name, made.values.size()));
  }
  return made;
}

result<std::optional<slice_spec>> slice_of_value(const wanted_save& of, size_t i) {
  if (of.slices.empty())
    return std::optional<slice_spec>{};
  auto spec = slice_spec::parse(of.slices[i]);
  if (!spec)
    return spec.status().within(concat("tensor '", of.names[i], "'"));
  if (*spec && (*spec)->slice.dims != of.values[i].dims())
    return invalid("tensor '", of.names[i], "': the slice ", (*spec)->slice.dims,
                   " is to be saved, and the value is ", of.values[i].dims());
  return spec;
}

result<outputs> run_save_v2(const work_context& at) {
  TROUPE_ASSIGN(auto what, read_save(at, true));
  std::vector<std::optional<slice_spec>> slices; // nothing is written where one of them is wrong
  for (size_t i = 0; i < what.values.size(); ++i) {
    TROUPE_ASSIGN(auto slice, slice_of_value(what, i));
    slices.push_back(std::move(slice));
  }
  auto& files = real_files();
  TROUPE_TRY(make_folder_durably(files, folder_of(what.path)));
  TROUPE_ASSIGN(auto writer, tensor_bundle_writer::begin(files, what.path, true));
  for (size_t i = 0; i < what.values.size(); ++i) {
    if (at.stopped())
      return stopped();
    if (slices[i] && !slices[i]->all())
      TROUPE_TRY(writer.add_slice(what.names[i], slices[i]->whole, slices[i]->slice.offset,
                                  what.values[i]));
    else
      TROUPE_TRY(writer.add(what.names[i], what.values[i]));
  }
  TROUPE_TRY(writer.finish());
  return outputs{};
}

result<outputs> save_old(const work_context& at, bool with_slices) {
  TROUPE_ASSIGN(auto what, read_save(at, with_slices));
  slice_file_writer writer{real_files(), what.path};
  for (size_t i = 0; i < what.values.size(); ++i) {
    if (at.stopped())
      return stopped();
    TROUPE_ASSIGN(auto slice, slice_of_value(what, i));
    const auto& value = what.values[i];
    auto whole = slice ? slice->whole : value.dims();
    auto offset = slice ? slice->slice.offset : origin_of(whole);
    TROUPE_TRY(writer.add(what.names[i], whole, offset, value));
  }
  TROUPE_TRY(make_folder_durably(real_files(), folder_of(what.path)));
  TROUPE_TRY(writer.finish());
  return outputs{};
}

result<outputs> run_save(const work_context& at) { return save_old(at, false); }
result<outputs> run_save_slices(const work_context& at) { return save_old(at, true); }

// One tensor of a checkpoint of either version.
template <class Reader>
result<tensor> read_one(const Reader& from, const std::string& path, const std::string& name,
                        std::string_view slice, dtype type) {
  auto context = [&] { return concat(path, ": tensor '", name, "'"); };
  auto spec = slice_spec::parse(slice);
  if (!spec)
    return spec.status().within(context());
  const auto* known = from.find(name);
  if (known && known->type != type)
    return invalid(context(), " is ",
                   known->type == dtype::none ? "of a type that we do not have"
                                              : to_string(known->type),
                   " in the checkpoint, and ", type, " is asked for");
  if (!*spec || !known) // who is unknown is an error there
    return from.read(name);
  if ((*spec)->whole != known->dims)
    return invalid(context(), " is ", known->dims, " in the checkpoint, and a slice of ",
                   (*spec)->whole, " is asked for");
  return from.read_slice(name, (*spec)->slice.offset, (*spec)->slice.dims);
}

template <class Reader>
result<outputs> read_all(const Reader& from, const std::string& path,
                         std::span<const std::string> names, std::span<const std::string> slices,
                         const work_context& at) {
  outputs all;
  for (size_t i = 0; i < names.size(); ++i) {
    if (at.stopped())
      return stopped();
    TROUPE_ASSIGN(auto value, read_one(from, path, names[i], slices.empty() ? "" : slices[i],
                                       at.of.output_type(static_cast<int>(i))));
    all.push_back(std::move(value));
  }
  return all;
}

result<outputs> run_restore_v2(const work_context& at) {
  TROUPE_ASSIGN(auto prefix, one_text(at.inputs[0], "prefix"));
  auto count = static_cast<size_t>(at.of.outputs());
  TROUPE_ASSIGN(auto names, texts(at.inputs[1], "tensor_names", count));
  TROUPE_ASSIGN(auto slices, texts(at.inputs[2], "shape_and_slices", count));
  auto& files = real_files();
  auto index = files.inspect(bundle_index_path(prefix));
  if (!index && index.status().kind() == error_kind::not_found) {
    auto old = slice_file_reader::open(files, prefix);
    if (!old && old.status().kind() == error_kind::not_found)
      return failure(error_kind::not_found, prefix, ": there is no checkpoint: neither ",
                     bundle_index_path(prefix), " nor, of version 1, ", prefix);
    if (!old)
      return old.status();
    return read_all(*old, prefix, names, slices, at);
  }
  TROUPE_ASSIGN(auto from, tensor_bundle_reader::open(files, prefix));
  return read_all(from, bundle_index_path(prefix), names, slices, at);
}

result<outputs> restore_old(const work_context& at, bool with_slice) {
  TROUPE_ASSIGN(auto pattern, one_text(at.inputs[0], "file_pattern"));
  TROUPE_ASSIGN(auto name, one_text(at.inputs[1], "tensor_name"));
  std::string slice;
  if (with_slice) {
    TROUPE_ASSIGN(slice, one_text(at.inputs[2], "shape_and_slice"));
  }
  TROUPE_ASSIGN(auto from, slice_file_reader::open(real_files(), pattern));
  return read_all(from, pattern, {&name, 1}, {&slice, 1}, at);
}

result<outputs> run_restore(const work_context& at) { return restore_old(at, false); }
result<outputs> run_restore_slice(const work_context& at) { return restore_old(at, true); }

result<outputs> run_merge(const work_context& at) {
  TROUPE_ASSIGN(auto prefixes, texts(at.inputs[0], "checkpoint_prefixes"));
  TROUPE_ASSIGN(auto destination, one_text(at.inputs[1], "destination_prefix"));
  auto& files = real_files();
  TROUPE_TRY(
      merge_tensor_bundles(files, prefixes, destination, at.of.attr<bool>("allow_missing_files")));
  if (at.of.attr<bool>("delete_old_dirs"))
    for (const auto& prefix : prefixes)
      (void)files.remove(folder_of(prefix)); // there may be more in it
  return outputs{};
}

} // namespace

status add_checkpoint_work(registry& to) {
  for (const auto& [op, run] : std::initializer_list<work_def>{
           {"SaveV2", run_save_v2},
           {"RestoreV2", run_restore_v2},
           {"MergeV2Checkpoints", run_merge},
           {"Save", run_save},
           {"SaveSlices", run_save_slices},
           {"Restore", run_restore},
           {"RestoreSlice", run_restore_slice},
       })
    TROUPE_TRY(to.add(work_def{op, run}));
  return {};
}

} // namespace troupe
