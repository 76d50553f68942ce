// The geometry of launches in which a team of threads shares a row
// (kernels/team.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/cuda/program.h"

namespace reprise::cuda {

// A team for each of `rows` rows of `length` elements: a warp, four of which
// make a block, for short rows; blocks of up to 256 threads for longer ones.
KernelLaunch TeamLaunch(std::string entry, int64_t rows, int64_t length,
                        std::vector<Argument> arguments);

}  // namespace reprise::cuda
