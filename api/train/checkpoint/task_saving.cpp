#include "troupe/api/train/checkpoint/task_saving.hpp"
// Saves and restores variables by the tasks that hold them.

#include "troupe/api/generated/ops.hpp"
#include "troupe/runtime/device/device_name.hpp"
#include "troupe/serialization/storage/checksum.hpp"

#include <map>
#include <random>

namespace troupe {
namespace {

// Returns the processor of the task that a node is placed on; empty if no task is named.
std::string task_of(const node& variable) {
  auto device = device_name::parse(variable.device());
  if (!device || device->job.empty())
    return {};
  return concat("/job:", device->job, device->task >= 0 ? concat("/task:", device->task) : "",
                "/cpu:0");
}

std::string slice_text(const manifest_slice& slice, const shape& dims) {
  std::string text, axes;
  for (int axis = 0; axis < slice.full_shape.rank(); ++axis) {
    text += concat(slice.full_shape[axis], ' ');
    axes += concat(axis == 0 ? "" : ":", slice.offset[static_cast<size_t>(axis)], ',', dims[axis]);
  }
  return text + axes;
}

tensor text_scalar(std::string text) { return tensor::scalar(std::move(text)); }

tensor text_vector(const std::vector<std::string>& texts) {
  return tensor::vector<std::string>(texts);
}

std::string unused_name() {
  std::random_device device;
  return to_hex(uint64_t{device()} << 32 | device());
}

status as_status(const error& cause) { return status{cause.kind(), cause.what()}; }

} // namespace

task_saving::task_saving(graph_builder& to, const std::vector<variable>& variables,
                         location where) {
  restore_path_ = to.placeholder(dtype::string, shape{}, {}, where);
  std::map<std::string, std::vector<variable>> by_task;
  for (const auto& saved : variables)
    by_task[task_of(*saved.value.node)].push_back(saved);
  for (const auto& [device, task_variables] : by_task)
    add_shard(to, device, task_variables, where);
}

void task_saving::add_shard(graph_builder& to, const std::string& device,
                            const std::vector<variable>& variables, location where) {
  shard added;
  added.device = device;
  std::vector<std::string> names, slices;
  std::vector<dtype> types;
  for (const auto& saved : variables) {
    names.push_back(saved.name);
    slices.push_back(
        saved.slice
            ? slice_text(*saved.slice, saved.value.node->attr<partial_shape>("shape").known())
            : "");
    types.push_back(saved.value.node->attr<dtype>("dtype"));
  }
  auto add = [&](std::string op, std::vector<edge> inputs, attr_map attrs = {}) {
    node_spec spec;
    spec.op = std::move(op);
    spec.inputs = std::move(inputs);
    spec.attrs = std::move(attrs);
    spec.device = device;
    spec.where = where;
    return value_or_throw(to.add(std::move(spec)));
  };
  added.save_path = to.placeholder(dtype::string, shape{}, {}, where);
  added.probe_path = to.placeholder(dtype::string, shape{}, {}, where);
  added.probe_text = to.placeholder(dtype::string, shape{}, {}, where);
  auto name_list = to.constant(text_vector(names), {}, where),
       slice_list = to.constant(text_vector(slices), {}, where);
  std::vector<edge> inputs{added.save_path, name_list, slice_list};
  for (const auto& saved : variables)
    inputs.push_back(saved.value);
  added.save = add("SaveV2", std::move(inputs));
  auto* read =
      add("RestoreV2", {restore_path_, name_list, slice_list}, {{"dtypes", attr_value{types}}});
  std::vector<node*> assigns;
  for (size_t i = 0; i < variables.size(); ++i)
    assigns.push_back(assign(variables[i].value, edge{read, static_cast<int>(i)},
                             {.validate_shape = false}, {}, where)
                          .node);
  added.restore = to.group(assigns, {}, where);
  auto probe = to.constant(text_vector({"probe"}), {}, where),
       whole_slice = to.constant(text_vector({""}), {}, where);
  added.probe_write = add("SaveV2", {added.probe_path, probe, whole_slice, added.probe_text});
  added.probe_read = {add("RestoreV2", {added.probe_path, probe, whole_slice},
                          {{"dtypes", attr_value{std::vector<dtype>{dtype::string}}}}),
                      0};
  shards_.push_back(std::move(added));
}

status task_saving::check_shared(session& in, const std::string& folder,
                                 const run_options& step_options, location where) const {
  auto& files = real_files();
  TROUPE_TRY(make_folder_durably(files, folder));
  auto id = unused_name();
  auto own_file = path_in(folder, concat(draft_prefix, "probe-", id));
  std::vector<std::string> written{own_file};
  auto outcome = [&]() -> status {
    TROUPE_ASSIGN(auto writer, tensor_bundle_writer::begin(files, own_file));
    TROUPE_TRY(writer.add("probe", text_scalar(id)));
    TROUPE_TRY(writer.finish());
    for (size_t i = 0; i < shards_.size(); ++i) {
      const auto& shard_to_check = shards_[i];
      auto not_shared = [&](std::string_view problem) {
        return failure(error_kind::failed_precondition, folder, ": ", problem, ' ',
                       shard_to_check.device.empty() ? std::string{"the task of the variables"}
                                                     : shard_to_check.device,
                       ", but tasks can only save to a folder that all of them share: name one on "
                       "a network file system, or leave saver_options.sharded_by_task off");
      };
      try {
        auto read_back = in.run({{shard_to_check.probe_path, text_scalar(own_file)}},
                                {shard_to_check.probe_read}, {}, step_options, where);
        if (*read_back.at(0).data<std::string>() != id)
          return not_shared("the files of this process have other contents on");
      } catch (const error& cause) {
        return cause.kind() == error_kind::not_found
                   ? not_shared("the files of this process are not visible to")
                   : as_status(cause);
      }
      auto task_file = concat(own_file, '-', i);
      written.push_back(task_file);
      try {
        in.run({{shard_to_check.probe_path, text_scalar(task_file)},
                {shard_to_check.probe_text, text_scalar(id)}},
               {}, {shard_to_check.probe_write}, step_options, where);
      } catch (const error& cause) {
        return as_status(cause);
      }
      auto reader = tensor_bundle_reader::open(files, task_file);
      if (!reader && reader.status().kind() == error_kind::not_found)
        return not_shared("this process does not see the files of");
      TROUPE_TRY(reader.status());
    }
    return {};
  }();
  for (const auto& path : written)
    for (const auto* ending : {".index", ".data-00000-of-00001"})
      (void)files.remove(path + ending);
  return outcome;
}

status task_saving::write(session& in, const std::string& folder,
                          const std::vector<edge>& extra_fetches, const item_maker& make_items,
                          checkpoint_manifest& manifest, const run_options& step_options,
                          location where) const {
  std::vector<feed> feeds;
  std::vector<target> targets;
  std::vector<std::string> parts;
  for (size_t i = 0; i < shards_.size(); ++i) {
    parts.push_back(path_in(folder, concat("part-", i)));
    feeds.emplace_back(shards_[i].save_path, text_scalar(parts.back()));
    targets.emplace_back(shards_[i].save);
  }
  std::vector<tensor> values;
  try {
    values = in.run(feeds, extra_fetches, targets, step_options, where);
  } catch (const error& cause) {
    return as_status(cause);
  }
  auto& files = real_files();
  if (auto items = make_items(std::move(values)); !items.empty()) {
    parts.push_back(path_in(folder, concat("part-", parts.size())));
    TROUPE_ASSIGN(auto writer, tensor_bundle_writer::begin(files, parts.back(), true));
    for (const auto& item : items)
      TROUPE_TRY(add_item(writer, item));
    TROUPE_TRY(writer.finish());
  }
  auto prefix = path_in(folder, bundle_name);
  TROUPE_TRY(merge_tensor_bundles(files, parts, prefix));
  TROUPE_ASSIGN(auto merged, tensor_bundle_reader::open(files, prefix));
  manifest.tensors = manifest_entries(merged, concat(bundle_name, ".index"));
  return {};
}

void task_saving::restore(session& in, const std::string& checkpoint,
                          const run_options& step_options, location where) const {
  std::vector<target> targets;
  for (const auto& saved_shard : shards_)
    targets.emplace_back(saved_shard.restore);
  in.run({{restore_path_, text_scalar(path_in(checkpoint, bundle_name))}}, {}, targets,
         step_options, where);
}

} // namespace troupe
