if vim.filetype and vim.filetype.add then
  vim.filetype.add({
    filename = { Modelfile = 'modelfile' },
    extension = { modelfile = 'modelfile' },
    pattern = { ['.*/Modelfile%..*'] = 'modelfile' },
  })
end
