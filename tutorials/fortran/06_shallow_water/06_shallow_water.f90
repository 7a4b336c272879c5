! SPDX-License-Identifier: BSD-2-Clause
! 06 Shallow water: a closure for a coarse grid, trained inside the solver.
!
! What you learn: how to couple a network with an existing explicit solver on a staggered grid, with its arrays
! q(x, y, component); how to train it while the solver runs, and then through several steps of the solver, whose
! derivatives come from its equations as a network (equations.f90); how to continue from a checkpoint on any number of
! processes; and how to find out whether it was worth it. The README of tutorials/06_shallow_water has the results with pictures.
!
! The same solver (solver.f90) runs on a fine and on a coarse grid. What the fine one knows and the coarse one lacks is
! learnt by a small convolutional network (closure.f90), first from single steps while the fine solver runs, then
! through 8 steps of the coarse solver (window.f90, adjoint.f90). It is then used from a start that it has never seen,
! beside the bare coarse grid and a regression that was fitted offline (regression.f90).
!
!   mpiexec -n 4 fortran_06_shallow_water
!   mpiexec -n 4 fortran_06_shallow_water -checkpoint run1 -stop 300     then, on other processes,
!   mpiexec -n 2 fortran_06_shallow_water -checkpoint run1
program shallow_water
  use water_check
  use water_training
  use water_use
  use water_experiment
  implicit none
  type(experiment_t), target :: x
  logical :: ended

  call declare_options()
  call tenon_options_own_command_line()
  call tenon_initialize('06 Shallow water: a closure for a coarse grid'//new_line('a'))
  call create()
  if (x%grid%rank == 0) print '(4(a, i0), 2(a, f6.4))', 'coarse grid ', x%grid%cells, ' x ', x%grid%cells, &
    ', truth ', x%truth%solver%grid%cells, ' x ', x%truth%solver%grid%cells, ', time step ', x%solver%dt, ' and ', &
    x%truth%solver%dt
  call use_truth(x)
  call check_solver(x%solver, x%unseen(:, :, :, 0))
  call check_window(x%window, x%solver, x%one_step, x%unseen(:, :, :, 0), x%unseen(:, :, :, 1:))
  call train(x, ended)
  if (.not. ended) then
    call regression_fit(x%regression, x%solver, x%samples, 4)
    if (x%grid%rank == 0) print '(a, f4.2, a)', 'offline: the regression explains ', x%regression%explained, &
      ' of the missing tendencies'' variance'
    call use_models(x)
  end if
  call destroy()
  call tenon_finalize()
contains
  subroutine declare_int(name, value, help)
    character(len=*), intent(in) :: name, value, help
    call tenon_options_declare('06_shallow_water', name, TENON_OPTION_INT, value, help)
  end subroutine declare_int

  subroutine declare_options()
    call declare_int('cells', '32', 'cells of the coarse grid in each direction')
    call declare_int('refinement', '4', 'cells of the fine grid for each of these')
    call declare_int('spinup', '110', 'coarse steps before samples are taken')
    call declare_int('online', '600', 'training steps while the truth runs; at least 8')
    call declare_int('in_loop', '200', 'training steps through 8 steps of the solver')
    call declare_int('start', '2', 'number of the unseen start; that of the training is 1')
    call declare_int('use', '96', 'coarse steps from the unseen start')
    call declare_int('stable', '1000', 'steps in which a blow-up is looked for')
    call declare_int('every', '200', 'training steps from one checkpoint to the next')
    call declare_int('stop', '0', 'training step after which the program ends; 0: none')
    call tenon_options_declare('06_shallow_water', 'checkpoint', TENON_OPTION_STRING, '', &
      'folder of checkpoints, from the last of which training continues; empty: none')
  end subroutine declare_options

  subroutine get_int(name, value)
    character(len=*), intent(in) :: name
    integer, intent(out) :: value
    call tenon_options_get_int(name, value, prefix='-')
  end subroutine get_int

  subroutine create()
    associate (s => x%settings)
      call get_int('cells', s%cells)
      call get_int('refinement', s%refinement)
      call get_int('spinup', s%spinup)
      call get_int('online', s%online)
      call get_int('in_loop', s%in_loop)
      call get_int('start', s%start)
      call get_int('use', s%use)
      call get_int('stable', s%stable)
      call get_int('every', s%every)
      call get_int('stop', s%stop)
    end associate
    call tenon_options_get_string('checkpoint', x%settings%checkpoint, prefix='-')
    if (min(x%settings%cells, x%settings%refinement, x%settings%every) < 1 .or. &
      min(x%settings%online, x%settings%use) < longest) error stop &
      '06_shallow_water: -cells, -refinement and -every must be positive, -online and -use at least 8'
    call grid_create(MPI_COMM_WORLD, x%settings%cells, 1, domain_length, x%grid)
    call solver_create(x%grid, time_step(x%grid), x%solver)
    call truth_create(x%grid, x%settings%refinement, x%truth)
    call window_create(x%grid, x%window)
    call regression_create(x%grid, x%regression)
    call closure_create(x%grid, x%solver%dt, longest, x%one_step)
    call closure_create(x%grid, x%solver%dt, longest, x%in_loop)
    call create_fields(x%grid, 0, x%settings%online, x%samples)
    call create_fields(x%grid, 0, x%settings%use, x%unseen)
  end subroutine create

  subroutine destroy()
    call closure_destroy(x%in_loop)
    call closure_destroy(x%one_step)
    call regression_destroy(x%regression)
    call truth_destroy(x%truth)
    call solver_destroy(x%solver)
    call grid_destroy(x%grid)
  end subroutine destroy
end program shallow_water
