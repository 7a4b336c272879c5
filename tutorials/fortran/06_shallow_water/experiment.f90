! SPDX-License-Identifier: BSD-2-Clause
! Data that the parts of the program share: settings, models, and samples of the truth.
module water_experiment
  use water_regression
  use water_truth
  use water_window
  implicit none
  integer, parameter :: training_seed = 1
  ! The ways to make a coarse step.
  integer, parameter :: bare = 1, offline = 2, one_step = 3, in_loop = 4, models = 4

  type :: settings_t
    integer :: cells, refinement  ! of the coarse grid; of the fine one
    integer :: spinup             ! coarse steps before samples are taken
    integer :: online, in_loop    ! training steps
    integer :: start              ! number of the unseen start
    integer :: use, stable        ! steps of the comparison; of the search for a blow-up
    integer :: every, stop
    character(len=:), allocatable :: checkpoint
  end type settings_t

  type :: experiment_t
    type(settings_t) :: settings
    type(grid_t) :: grid ! coarse
    type(solver_t) :: solver
    type(truth_t) :: truth
    type(window_t) :: window
    type(regression_t) :: regression
    type(closure_t) :: one_step, in_loop
    real(real64), allocatable :: samples(:, :, :, :) ! 0 to online, of the training run
    real(real64), allocatable :: unseen(:, :, :, :)  ! 0 to use, of the other run
  end type experiment_t
end module water_experiment
