// Describes the families of ops for the reference.
#include "troupe/api/generate/reference.hpp"

namespace troupe::generate {

std::span<const op_family> families() {
  static constexpr op_family table[] = {
      {"activation",
       "Activation functions of neural networks, bias addition, and their gradients."},
      {"collective", "Sums, gathers and broadcasts over several devices or tasks."},
      {"control", "Branches, loops and function calls; no-op, assertions and printing "
                  "([docs/control-flow.md](../control-flow.md))."},
      {"conv", "Convolutions and dilations of images and volumes, and their gradients."},
      {"coordination", "Accumulators, barriers, staging areas, mutexes, and clocks of replicas."},
      {"ctc", "Connectionist temporal classification: the loss and the decoders."},
      {"elementwise", "Arithmetic, comparisons, logic, rounding and type conversion, element by "
                      "element."},
      {"image", "Image files, resizing, cropping, color spaces and bounding boxes."},
      {"index",
       "Elements at given positions: gather, scatter, slice, where, top-k, sorted search."},
      {"io", "Readers of records, whole files, and checkpoints."},
      {"join", "Concatenation, stacking, splitting, tiling and partitioning of tensors."},
      {"linalg", "Linear algebra: decompositions, solvers, determinants and diagonals."},
      {"list", "Lists of tensors, optional values, TensorArrays and stacks."},
      {"lookup", "Lookup tables ([docs/tables.md](../tables.md))."},
      {"loss", "Cross entropies, the L2 loss, and top-k accuracy."},
      {"matmul", "Products of matrices and of batches of matrices."},
      {"norm", "Batch normalization and local response normalization."},
      {"optimizer", "Updates of variables by optimizers: gradient descent, momentum, Adam and "
                    "others."},
      {"pad", "Padding, image patches, and moves between the space, batch and depth axes."},
      {"parsing", "Decoding of CSV lines, raw bytes, `Example` records and serialized tensors."},
      {"permute", "Transposition, reversal and rotation of axes, and inverse permutations."},
      {"pool", "Average and maximum pooling of images and volumes, and their gradients."},
      {"quantized", "Computation with quantized numbers, and simulated quantization for training."},
      {"queue", "Queues: first in first out, padding, by priority, and shuffled."},
      {"random", "Random numbers with and without state, shuffling, and candidate samplers."},
      {"recurrent", "LSTM and GRU cells, LSTM layers over sequences, and their gradients."},
      {"reduction", "Reductions along axes, cumulative sums and products, and histograms."},
      {"segment", "Reductions of the rows of each segment, and counts of whole numbers."},
      {"sets", "Unique elements, differences of lists, and edit distances."},
      {"shape", "Constants, placeholders, ranges, shapes, reshaping, broadcasting and identity."},
      {"sparse",
       "Sparse tensors in coordinate form, and their conversion from and to dense tensors."},
      {"special", "Gamma, beta, zeta and error functions."},
      {"state", "Variables: creation, reading, assignment and scattered updates."},
      {"strings", "Conversion, splitting, joining, regular expressions, hashes and Base64."},
      {"summary", "Summaries for TensorBoard: scalars, histograms, images, sounds and tensors."},
  };
  return table;
}

} // namespace troupe::generate
